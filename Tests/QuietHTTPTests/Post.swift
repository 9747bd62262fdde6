import Foundation

/// A POST to write onto the wire.
struct Post {
  var path = "/echo"
  var contentType = "application/json"
  var headers: [String] = []
  /// What `Content-Length` says; the body's own length where it is nil.
  var announced: Int?
  var body: Data

  init(_ body: String) {
    self.body = Data(body.utf8)
  }

  /// A JSON body of exactly `count` bytes.
  init(bytes count: Int) {
    let frame = #"{"word":""}"#.utf8.count
    self.init(#"{"word":"\#(String(repeating: "x", count: count - frame))"}"#)
  }

  /// The headers, those of its own first.
  var headerLines: [String] {
    [
      "Host: localhost", "Content-Type: \(contentType)",
      "Content-Length: \(announced ?? body.count)", "Connection: close",
    ] + headers
  }

  var head: Data {
    let lines = ["POST \(path) HTTP/1.1"] + headerLines
    return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  func answer(port: Int) async throws -> WireAnswer {
    try await WireAnswer(Wire.exchange([head + body], port: port))
  }
}
