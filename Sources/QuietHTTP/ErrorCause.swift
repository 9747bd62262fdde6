import Foundation
import NIOCore

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
