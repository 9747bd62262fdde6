extension Sequence<UInt8> {
  /// The bytes as the command line writes them.
  var lowerCaseHex: String {
    flatMap { byte in [byte >> 4, byte & 0xf] }.map { String($0, radix: 16) }.joined()
  }
}
