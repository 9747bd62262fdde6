/// Where the sightings of each identifier are: together, in the order of their interval.
///
/// So whoever repeats a beacon a hundred thousand times lengthens a look at it by seventeen steps
/// (Documentation/Matching.md 5.3).
struct SightingOrder: Sendable {
  /// Places among the sightings, identifier after identifier.
  private var places: [Int32]
  /// Where in `places` those of each identifier begin, and at last where they end.
  private let starts: [Int32]

  /// In the place of an identifier's number: the sighting is left out.
  static let none: Int32 = -1

  /// The order of sightings of the identifiers `numbers`, all below `count`; `interval` is the one that
  /// the sighting at a place was heard in. Those of one interval stay as they come.
  init(of numbers: [Int32], identifierCount count: Int, interval: (Int) -> UInt32) {
    var starts = [Int32](repeating: 0, count: count + 1)
    for number in numbers where number != Self.none { starts[Int(number) + 1] += 1 }
    for number in 0..<count { starts[number + 1] += starts[number] }
    var next = starts
    places = [Int32](repeating: 0, count: Int(starts[count]))
    for (place, number) in numbers.enumerated() where number != Self.none {
      places[Int(next[Int(number)])] = Int32(place)
      next[Int(number)] += 1
    }
    self.starts = starts
    for number in 0..<count { sort(range(of: number), by: interval) }
  }

  /// The places of the sightings of identifier `number` that were heard in one of `intervals`.
  func places(
    of number: Int, within intervals: ClosedRange<UInt32>, interval: (Int) -> UInt32
  ) -> ArraySlice<Int32> {
    let all = range(of: number)
    let first = all.firstPlace { interval(Int(places[$0])) >= intervals.lowerBound }
    let end = (first..<all.upperBound).firstPlace {
      interval(Int(places[$0])) > intervals.upperBound
    }
    return places[first..<end]
  }

  private func range(of number: Int) -> Range<Int> {
    Int(starts[number])..<Int(starts[number + 1])
  }

  /// Phones hand over what they heard in the order of time: then there is nothing to do.
  private mutating func sort(_ range: Range<Int>, by interval: (Int) -> UInt32) {
    let isSorted = range.dropFirst().allSatisfy { index in
      interval(Int(places[index - 1])) <= interval(Int(places[index]))
    }
    guard !isSorted else { return }
    places[range].sort { (interval(Int($0)), $0) < (interval(Int($1)), $1) }
  }
}
