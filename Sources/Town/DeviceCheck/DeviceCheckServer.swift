import Foundation
import Hummingbird
import Logging
import QuietHTTP
import ServiceLifecycle

/// The authority on a port of loopback, at the path that Apple documents.
public struct DeviceCheckServer: Service {
  /// The largest question, in bytes.
  static let questionBytesMax = 16 << 10

  private let server: QuietServer

  /// A server for `authority` on a free port.
  public init(_ authority: DeviceCheckAuthority, logger: Logger) {
    let router = Router(context: QuietContext.self)
    router.post("/v1/validate_device_token") { request, _ in
      try await Self.answer(request, authority: authority)
    }
    server = QuietServer(router: router, host: "127.0.0.1", port: 0, logger: logger)
  }

  /// Where it listens, once it does.
  public var boundPort: Int {
    get async { await server.boundPort }
  }

  public func run() async throws {
    try await server.run()
  }

  private static func answer(
    _ request: Request, authority: DeviceCheckAuthority
  ) async throws -> Response {
    let body = try await request.body.collect(upTo: questionBytesMax)
    guard
      let question = try? JSONDecoder().decode(
        DeviceCheckQuestion.self, from: Data(body.readableBytesView))
    else { return refusal(.badRequest, "Missing or incorrectly formatted device token payload") }
    let introduction = request.headers[.authorization].map { $0.dropFirst("Bearer ".count) } ?? ""
    switch await authority.verdict(on: question, introducedBy: String(introduction)) {
    case .genuine: return Response(status: .ok)
    case .unknownTeam: return refusal(.unauthorized, "Unable to verify authorization token")
    case .stale: return refusal(.badRequest, "Missing or incorrectly formatted time stamp")
    case .unknownDevice, .replayed:
      return refusal(.badRequest, "Unable to verify device token")
    }
  }

  private static func refusal(_ status: HTTPResponse.Status, _ reason: String) -> Response {
    Response(status: status, body: ResponseBody(byteBuffer: ByteBuffer(string: reason)))
  }
}
