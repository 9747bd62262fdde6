/// What is special about the variant of the virus that was found, with the numbers of the key file.
///
/// Field 8 of a key in the export format; see Documentation/KeyFiles.md 2.3. One byte, since hundreds
/// of thousands of keys carry it.
public enum VariantOfConcern: UInt8, Sendable, CaseIterable {
  /// Not stated.
  case unknown = 0
  /// Vaccines work against it.
  case vaccineEffective = 1
  /// It spreads very easily.
  case highlyTransmissive = 2
  /// It makes people severely ill.
  case highSeverity = 3
  /// It breaks through vaccines.
  case vaccineBreakthrough = 4
}
