/// A stage of deriving and asking that the kernels can do bare.
enum BareStage: CaseIterable {
  /// HKDF of the identifier key.
  case schedule
  /// AES key expansion and 144 blocks.
  case blocks
  /// 144 questions to a filter that holds what was heard in reach of one day.
  case probe
}
