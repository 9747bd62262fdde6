import Foundation

/// One question to a server.
public struct NetworkRequest: Sendable {
  /// Where it goes, with scheme and host.
  public var url: URL
  /// The JSON to post, or nil to get.
  public var body: Data?
  /// Names and values of headers besides those that every request has.
  public var headers: [String: String]
  /// After how many seconds without the whole answer it is given up.
  public var timeoutSeconds: Double
  /// How many bytes the answer's body may have.
  public var answerBytesMax: Int

  /// Asks for `url`, or posts `body` there.
  public init(
    _ url: URL, body: Data? = nil, headers: [String: String] = [:],
    timeoutSeconds: Double = NetworkLimit.timeoutSeconds,
    answerBytesMax: Int = NetworkLimit.answerBytesMax
  ) {
    self.url = url
    self.body = body
    self.headers = headers
    self.timeoutSeconds = timeoutSeconds
    self.answerBytesMax = answerBytesMax
  }
}

extension NetworkRequest: CustomStringConvertible, CustomReflectable {
  /// The body may hold a PIN, a token or keys.
  public var description: String { "\(body == nil ? "GET" : "POST") \(url.path)" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
