import Hummingbird
import Logging

/// Why a server did not take a request. One case for each thing the client can do about it.
public enum QuietRefusal: Error, Hashable, Sendable {
  /// Send less: the body is longer than so many bytes.
  case bodyTooLarge(bytesMax: Int)
  /// Send `application/json`.
  case wrongContentType
  /// Send faster, or again.
  case bodyTooSlow
  /// Send JSON of the form this route documents.
  case malformed
  /// Ask for something else: there is nothing under this path and method.
  case notFound
  /// Wait: too many attempts.
  case tooManyAttempts(retryAfterSeconds: Int)
  /// Wait: nothing can be kept just now.
  case unavailable(retryAfterSeconds: Int)
  /// Report it: our own fault.
  case ourFault

  /// The HTTP status that says it.
  public var status: HTTPResponse.Status {
    switch self {
    case .bodyTooLarge: .contentTooLarge
    case .wrongContentType: .unsupportedMediaType
    case .bodyTooSlow: .requestTimeout
    case .malformed: .badRequest
    case .notFound: .notFound
    case .tooManyAttempts: .tooManyRequests
    case .unavailable: .serviceUnavailable
    case .ourFault: .internalServerError
    }
  }

  /// One sentence for whoever wrote the client, with nothing of the server's inside.
  public var message: String {
    switch self {
    case .bodyTooLarge(let bytes): "The body is longer than \(bytes) bytes."
    case .wrongContentType: "The body must be application/json."
    case .bodyTooSlow: "The body did not arrive in time; send it again."
    case .malformed: "The body is not JSON of the form this route takes."
    case .notFound: "There is nothing here."
    case .tooManyAttempts: "Too many attempts; wait before the next one."
    case .unavailable: "The server cannot take this now; try again later."
    case .ourFault: "The server failed; the fault is not yours."
    }
  }

  /// After how many seconds to try again, where waiting helps.
  public var retryAfterSeconds: Int? {
    switch self {
    case .tooManyAttempts(let seconds), .unavailable(let seconds): seconds
    default: nil
    }
  }

  /// Runs `work` on storage. Where that fails the client is told to come back, and the log names the
  /// kind of error only: what a database says may quote what was to be stored.
  ///
  /// - Throws: `.unavailable`.
  public static func whereStorageFails<Value: Sendable>(
    _ logger: Logger, isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> Value
  ) async throws(QuietRefusal) -> Value {
    do {
      return try await work()
    } catch {
      logger.error("storage failed", metadata: ["kind": "\(type(of: error))"])
      throw .unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
    }
  }
}
