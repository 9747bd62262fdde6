/// Why no trial could be read at all.
package enum FieldTrialError: Error, Hashable {
  /// Name a folder that is there.
  case noFolder(String)
  /// Name a folder with recordings in it.
  case noTrials(String)
  /// Name a folder of recordings only.
  case tooManyFiles(String)
}

extension FieldTrialError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noFolder(let path):
      "There is no folder \(path): name the folder that holds the trials."
    case .noTrials(let path):
      "No trial in \(path) can be read: name a folder with TEST_info.json files and the phones' "
        + "logs beside them."
    case .tooManyFiles(let path):
      "There are more than \(FieldTrialLimit.files) files in \(path): name the folder of the trials."
    }
  }
}
