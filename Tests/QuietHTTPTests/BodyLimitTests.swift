// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import TestSupport
import Testing

@Suite("Request bodies")
struct BodyLimitTests {
  @Test("A body up to the limit is accepted, and one byte more is rejected with 413")
  func size() async throws {
    try await EchoServer().running { port async throws in
      let limit = EchoServer.bodyBytesMax
      #expect(try await Post(bytes: limit - 1).response(port: port).status == 200)
      #expect(try await Post(bytes: limit).response(port: port).status == 200)
      #expect(try await Post(bytes: limit + 1).response(port: port).status == 413)
    }
  }

  @Test("A body announced as too large is rejected before it arrives")
  func announcedTooLarge() async throws {
    try await EchoServer().running { port async throws in
      var post = Post("")
      post.announced = 1 << 40
      let response = try await post.response(port: port)
      #expect(response.status == 413)
      #expect(response.headers["connection"] == "close")
    }
  }

  @Test("A chunked body is rejected once it is too large")
  func endlessChunks() async throws {
    try await EchoServer().running { port async throws in
      let head = Data(
        """
        POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Transfer-Encoding: chunked\r\n\r\n
        """.utf8)
      let chunk = Data("80\r\n\(String(repeating: "x", count: 128))\r\n".utf8)
      let pieces = [head] + Array(repeating: chunk, count: 6)
      let response = try await WireResponse(Wire.exchange(pieces, port: port, pause: 0.05))
      #expect(response.status == 413)
    }
  }

  @Test("A body that is too slow is rejected with 408, and the next request is served")
  func tooSlow() async throws {
    let echo = EchoServer(bodySeconds: 1)
    try await echo.running { port async throws in
      let post = Post(#"{"word":"hello"}"#)
      let half = post.body.count / 2
      let pieces = [post.head + post.body.prefix(half)]
      let response = try await WireResponse(Wire.exchange(pieces, port: port))
      #expect(response.status == 408)
      #expect(echo.effects.count == 0)
      // On a busy machine this body may be too slow as well.
      try await Patience.until { try await post.response(port: port).status == 200 }
      #expect(echo.effects.count == 1)
    }
  }

  @Test("A request whose client disconnects in the body has no effect")
  func goneAway() async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      var post = Post(#"{"word":"hello"}"#)
      post.announced = post.body.count + 1
      let incomplete = post.head + post.body
      try await Wire.aside {
        let connection = try WireConnection(port: port)
        #expect(connection.send(incomplete))
        connection.close()
      }
      try await Patience.until { echo.log.lines.contains { $0.contains("POST /echo") } }
      #expect(echo.log.lines.contains { $0.contains("POST /echo") })
      #expect(echo.effects.count == 0)
    }
  }

  @Test(
    "Only application/json is accepted, with or without parameters",
    arguments: [
      ("application/json", 200), ("Application/JSON; charset=utf-8", 200), ("text/plain", 415),
      ("application/jsonp", 415), ("", 415),
    ])
  func contentType(_ type: String, _ status: Int) async throws {
    try await EchoServer().running { port async throws in
      var post = Post(#"{"word":"hello"}"#)
      post.contentType = type
      #expect(try await post.response(port: port).status == status)
    }
  }

  @Test(
    "JSON of another form is rejected with 400 in the form of the route",
    arguments: [
      "", "{", "[]", "null", #"{"word":7}"#, #"{"other":"x"}"#,
    ])
  func malformed(_ body: String) async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      let response = try await Post(body).response(port: port)
      #expect(response.status == 400)
      #expect(response.json["message"] == "The body is not JSON of the form this route takes.")
      #expect(echo.effects.count == 0)
    }
  }

  private struct Outer: Decodable, NamedFields, Sendable {
    var name: String?
    var inner: [Strict<Inner>]?
    static let fieldNames: Set<String> = ["name", "inner"]
  }

  private struct Inner: Decodable, NamedFields, Sendable {
    var number: Int?
    static let fieldNames: Set<String> = ["number"]
  }

  @Test("A strict body with an unknown field is rejected, also in a list")
  func unknownFields() throws {
    for (json, isValid) in [
      (#"{"name":"a","inner":[{"number":1},{}]}"#, true), ("{}", true), (#"{"nam":"a"}"#, false),
      (#"{"inner":[{"number":1,"more":2}]}"#, false), (#"{"Name":"a"}"#, false),
    ] {
      let read = try? JSONDecoder().decode(Strict<Outer>.self, from: Data(json.utf8))
      #expect((read != nil) == isValid, "\(json)")
    }
  }
}
