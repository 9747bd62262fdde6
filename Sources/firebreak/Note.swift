import Foundation

/// Says something beside the answer, on stderr, so that stdout stays the answer alone.
func note(_ sentence: String) {
  FileHandle.standardError.write(Data("firebreak: \(sentence)\n".utf8))
}
