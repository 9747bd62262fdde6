extension StoredState {
  /// Adds what one run found. Two people met alike on one day are two encounters; the same files
  /// analysed again bring neither of them a second time.
  mutating func add(_ found: [Exposure]) {
    var known = exposures
    for exposure in found {
      if let index = known.firstIndex(where: exposure.isSame) {
        known.remove(at: index)
      } else {
        exposures.append(exposure)
      }
    }
  }
}
