import AsyncHTTPClient

extension HTTPClient {
  /// Asks other servers for ours. A redirect is an answer like any other, and is not followed: it could lead to http,
  /// and what we show and believe belongs to the address that somebody configured. Documentation/Serving.md 9.5.
  ///
  /// It is there as long as the process is.
  public static let withoutRedirects: HTTPClient = {
    var configuration = HTTPClient.Configuration.singletonConfiguration
    configuration.redirectConfiguration = .disallow
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }()
}
