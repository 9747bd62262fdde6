import World

extension ProbeSecret {
  /// A secret drawn from `randomness`, for one search.
  package init(from randomness: some Randomness) {
    self.init(bytes: randomness.bytes(Self.byteCount))
  }
}
