// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The reason why there is no response.
public enum NetworkFailure: String, Error, Equatable, Codable, Sendable, CustomStringConvertible {
  /// The server is unreachable.
  case unreachable
  /// The server's certificate is not valid for its name, or the server offers no TLS 1.2. Nothing was sent.
  case certificate
  /// By the phone's clock, the server's certificate is not valid yet or has expired. Nothing was sent.
  case certificateOutOfDate
  /// The response did not arrive in time. The server may have processed the request.
  case timedOut
  /// The connection broke during the response. The server may have processed the request.
  case interrupted
  /// The response is longer than the request allows.
  case tooLarge
  /// The disk is full.
  case diskFull
  /// The app may not write to the folder.
  case notPermitted
  /// Another error while writing the response to disk.
  case disk

  public var description: String {
    switch self {
    case .unreachable: "The server cannot be reached; check the connection and try again."
    case .certificate:
      "The certificate of the server is not valid; check the phone's clock and its network, and try again."
    case .certificateOutOfDate:
      """
      By the phone's clock, the certificate of the server is not valid yet or has expired; set the \
      clock, and try again.
      """
    case .timedOut: "The server did not respond in time; try again."
    case .interrupted: "The connection was lost; try again."
    case .tooLarge: "The response is longer than allowed; contact the health authority."
    case .diskFull: "The disk is full; free some space and try again."
    case .notPermitted: "The app may not write to its folder; correct the folder's permissions."
    case .disk: "Writing the response to the disk failed; try again."
    }
  }
}

extension NetworkFailure {
  /// The failure for a value of `errno` while a file was written.
  init(code: Int32) {
    if FileError.isDiskFull(code) {
      self = .diskFull
    } else {
      self = [EACCES, EPERM, EROFS].contains(code) ? .notPermitted : .disk
    }
  }

  /// True if the response could not be written.
  var isOfDisk: Bool { [.diskFull, .notPermitted, .disk].contains(self) }
}
