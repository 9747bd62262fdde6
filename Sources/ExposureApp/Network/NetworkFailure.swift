/// Why there is no answer.
public enum NetworkFailure: String, Error, Equatable, Codable, Sendable, CustomStringConvertible {
  /// The server cannot be reached: check the connection, then try again.
  case unreachable
  /// No whole answer came in time: try again. The server may have acted on the request.
  case timedOut
  /// The connection broke before the answer was whole. The server may have acted on the request.
  case interrupted
  /// The answer is longer than the request allowed.
  case tooLarge
  /// The disk has no room for the answer: make room, then try again.
  case diskFull
  /// The disk refused the answer for another reason.
  case disk

  public var description: String {
    switch self {
    case .unreachable: "The server cannot be reached; check the connection and try again."
    case .timedOut: "The server did not answer in time; try again."
    case .interrupted: "The connection broke before the answer was whole; try again."
    case .tooLarge: "The answer is longer than the app accepts; tell the health authority."
    case .diskFull: "The disk is full; make room and try again."
    case .disk: "The disk refused to keep the answer; try again."
    }
  }
}
