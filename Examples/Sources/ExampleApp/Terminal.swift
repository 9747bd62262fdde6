import Foundation

/// Where the example speaks.
enum Terminal {
  static func say(_ line: String) {
    print(line)
    fflush(nil)
  }

  static func warn(_ line: String) {
    FileHandle.standardError.write(Data("ExampleApp: \(line)\n".utf8))
  }
}
