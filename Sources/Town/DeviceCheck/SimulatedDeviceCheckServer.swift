import Foundation
import Hummingbird
import Logging
import QuietHTTP
import ServiceLifecycle

/// Serves a `SimulatedDeviceCheck` on loopback, at Apple's path.
public struct SimulatedDeviceCheckServer: Service {
  /// The maximum length of a request, in bytes.
  static let requestBytesMax = 16 << 10

  private let server: QuietServer

  /// Creates a server on a free port.
  public init(_ authority: SimulatedDeviceCheck, logger: Logger) {
    let router = Router(context: QuietContext.self)
    router.post("/v1/validate_device_token") { request, _ in
      try await Self.respond(request, authority: authority)
    }
    server = QuietServer(router: router, host: "127.0.0.1", port: 0, logger: logger)
  }

  /// The port, once the server listens.
  public var boundPort: Int {
    get async { await server.boundPort }
  }

  public func run() async throws {
    try await server.run()
  }

  private static func respond(
    _ request: Request, authority: SimulatedDeviceCheck
  ) async throws -> Response {
    let body = try await request.body.collect(upTo: requestBytesMax)
    guard
      let validation = try? JSONDecoder().decode(
        DeviceCheckRequest.self, from: Data(body.readableBytesView))
    else { return rejection(.badRequest, "Missing or incorrectly formatted device token payload") }
    let authorization = request.headers[.authorization].map { $0.dropFirst("Bearer ".count) } ?? ""
    switch await authority.result(for: validation, authorizedBy: String(authorization)) {
    case .genuine: return Response(status: .ok)
    case .unknownTeam: return rejection(.unauthorized, "Unable to verify authorization token")
    case .stale: return rejection(.badRequest, "Missing or incorrectly formatted time stamp")
    case .unknownDevice, .replayed:
      return rejection(.badRequest, "Unable to verify device token")
    }
  }

  private static func rejection(_ status: HTTPResponse.Status, _ reason: String) -> Response {
    Response(status: status, body: ResponseBody(byteBuffer: ByteBuffer(string: reason)))
  }
}
