import Foundation

extension URL {
  /// The file of the program that runs, to be started again as a process of its own.
  static var thisProgram: URL {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
  }
}
