/// What a file of settings may measure.
enum SettingLimit {
  /// The largest file of settings, in bytes: fifty texts of SMS, and room.
  static let fileBytesMax = 256 << 10
  /// How many characters a name may have, such as an issuer's or a key's.
  static let nameCharacters = 1...255
  /// The largest file that holds one secret, such as a key in PEM, in bytes.
  static let secretBytesMax = 16 << 10
}
