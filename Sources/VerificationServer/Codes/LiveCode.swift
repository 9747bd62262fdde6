/// A code that has not expired, as the storage knows it.
struct LiveCode: Hashable, Sendable {
  var finding: Finding
  /// How it was used up, where it was.
  var redemption: Redemption?
}
