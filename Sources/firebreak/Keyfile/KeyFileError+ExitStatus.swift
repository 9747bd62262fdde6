import DiagnosisKeyFile
import Foundation

extension KeyFileError {
  /// A signature that does not hold is an answer; a file that is none is bad input.
  var exitStatus: ExitStatus {
    switch self {
    case .unsigned, .noSignatureByTheseKeys, .unsupportedAlgorithm, .signatureMismatch: .no
    case .diskFull: .machineFailed
    case .cannotRead(let code), .cannotWrite(let code):
      Self.mistakenPaths.contains(code) ? .badInput : .machineFailed
    default: .badInput
    }
  }

  /// What the system says of a path that was mistyped, or that is not ours.
  private static let mistakenPaths = [ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG]
}
