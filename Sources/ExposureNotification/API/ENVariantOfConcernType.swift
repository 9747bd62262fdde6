/// What is special about the variant of the virus that was found.
@frozen public enum ENVariantOfConcernType: UInt32, Sendable {
  /// Not stated.
  case typeUnknown = 0
  /// Vaccines work against it.
  case type1 = 1
  /// It spreads very easily.
  case type2 = 2
  /// It makes people severely ill.
  case type3 = 3
  /// It breaks through vaccines.
  case type4 = 4
}
