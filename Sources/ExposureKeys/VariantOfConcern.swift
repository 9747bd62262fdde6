// SPDX-License-Identifier: Apache-2.0
/// The kind of variant of the virus, with the numbers of the key file.
///
/// Field 8 of a key in the export format. One byte, since hundreds of thousands of keys have it.
public enum VariantOfConcern: UInt8, Sendable, CaseIterable {
  /// Not stated.
  case unknown = 0
  /// Vaccines work against it.
  case vaccineEffective = 1
  /// It spreads very easily.
  case highlyTransmissive = 2
  /// It causes severe disease.
  case highSeverity = 3
  /// Vaccines do not work against it.
  case vaccineBreakthrough = 4
}
