/// A request that is ready to be sent.
struct PreparedUpload: Sendable {
  let body: [UInt8]
  /// Whether it says that it is a decoy.
  let isChaff: Bool
}
