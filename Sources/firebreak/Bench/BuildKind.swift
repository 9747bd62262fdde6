/// How this executable was compiled. Figures of a debug build say nothing.
enum BuildKind: String, Encodable {
  case debug, release

  #if DEBUG
    static let current = debug
  #else
    static let current = release
  #endif

  /// Says on stderr that figures of this build do not count.
  static func warnUnlessRelease() {
    guard current == .debug else { return }
    note("This is a debug build: its figures do not count. Use `make bench`.")
  }
}
