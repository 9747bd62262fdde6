import Foundation

/// What the server in the folder refuses.
enum LocalServerError: LocalizedError {
  case codeNotValid
  case noSuchFile

  var errorDescription: String? {
    switch self {
    case .codeNotValid: return "The code is not known or has been used; ask for a new one."
    case .noSuchFile: return "The server has no such key file; ask for the list again."
    }
  }
}
