extension Range<Int> {
  /// The first place at which `isReached`, found by halving: it holds at every place after that one too.
  /// The end where it holds nowhere.
  func firstPlace(where isReached: (Int) -> Bool) -> Int {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      if isReached(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
