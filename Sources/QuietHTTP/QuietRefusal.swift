// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import NIOCore

/// A rejected request, with one case per action that the client can take.
public enum QuietRefusal: Error, Hashable, Sendable {
  /// The body is longer than `bytesMax`.
  case bodyTooLarge(bytesMax: Int)
  /// The body is not `application/json`.
  case wrongContentType
  /// The body did not arrive in time.
  case bodyTooSlow
  /// The body is not JSON of the documented form.
  case malformed
  /// Nothing exists at the path, or not for the method.
  case notFound
  /// Too many attempts: retry later.
  case tooManyAttempts(retryAfterSeconds: Int)
  /// The credential of the client has used its quota of the day: retry when it has room.
  case quotaUsedUp(quota: Int, retryAfterSeconds: Int)
  /// The server is overloaded or cannot use its storage: retry later.
  case unavailable(retryAfterSeconds: Int)
  /// An internal error.
  case internalError

  /// The HTTP status.
  public var status: HTTPResponse.Status {
    switch self {
    case .bodyTooLarge: .contentTooLarge
    case .wrongContentType: .unsupportedMediaType
    case .bodyTooSlow: .requestTimeout
    case .malformed: .badRequest
    case .notFound: .notFound
    case .tooManyAttempts, .quotaUsedUp: .tooManyRequests
    case .unavailable: .serviceUnavailable
    case .internalError: .internalServerError
    }
  }

  /// One sentence for the developers of the client, without internals of the server.
  public var message: String {
    switch self {
    case .bodyTooLarge(let bytes): "The body is longer than \(bytes) bytes."
    case .wrongContentType: "The body must be application/json."
    case .bodyTooSlow: "The body did not arrive in time; send it again."
    case .malformed: "The body is not JSON of the form this route takes."
    case .notFound: "Nothing exists at this path, or not for this method."
    case .tooManyAttempts: "Too many attempts; wait before the next one."
    case .quotaUsedUp(let quota, _):
      "The quota of \(quota) codes a day is used up; retry later, or ask the operator of the server."
    case .unavailable: "The server is busy or cannot use its storage; retry later."
    case .internalError: "An internal error occurred; try again later."
    }
  }

  /// The seconds to wait before a retry, if a retry helps.
  public var retryAfterSeconds: Int? {
    switch self {
    case .tooManyAttempts(let seconds), .unavailable(let seconds): seconds
    case .quotaUsedUp(_, let seconds): seconds
    default: nil
    }
  }

  /// Runs `work` and turns every error of the server, such as a full disk, into `.unavailable`. A refusal stays as it
  /// is.
  ///
  /// The log has the cause of the error without its text, which may quote the data.
  ///
  /// - Throws: `.unavailable`, or the refusal that `work` throws.
  public static func mappingServerErrors<Value: Sendable>(
    _ logger: Logger, isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> Value
  ) async throws(QuietRefusal) -> Value {
    do {
      return try await work()
    } catch let refusal as QuietRefusal {
      throw refusal
    } catch {
      logger.error("request not processed", metadata: ["cause": "\(ErrorCause.text(error))"])
      throw .unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
    }
  }
}

/// The cause of an error for the log: a code and the sentence of the operating system, and no data of a client.
public enum ErrorCause {
  /// The cause of `error`. Of errors that may quote data, only the type and the case are named.
  public static func text(_ error: any Error) -> String {
    switch error {
    case let error as IOError: return system(error.errnoCode)
    case let error as POSIXError: return system(error.code.rawValue)
    case let error as CocoaError: return text(error)
    case let error as any LoggableError: return error.logText
    default: return name(of: error)
    }
  }

  /// The cause below an error of Foundation, with the file of the server that it names.
  private static func text(_ error: CocoaError) -> String {
    let cause = error.underlying.map(text) ?? "Foundation error \(error.code.rawValue)"
    guard let path = error.filePath ?? error.url?.path else { return cause }
    return "\(cause): \(path)"
  }

  private static func system(_ code: Int32) -> String {
    "\(String(cString: strerror(code))) (errno \(code))"
  }

  /// The type, and the text of a case without content, which cannot quote anything.
  private static func name(of error: any Error) -> String {
    let mirror = Mirror(reflecting: error)
    guard mirror.displayStyle == .enum, mirror.children.isEmpty else { return "\(type(of: error))" }
    return "\(type(of: error)): \(error)"
  }
}

/// An error whose cause may be logged.
public protocol LoggableError: Error {
  /// The cause, without data of a client.
  var logText: String { get }
}
