import FieldTrials
import Testing

@Suite("Area under the curve")
struct AreaUnderCurveTests {
  @Test("Groups apart are 1, the other way round 0, the same scores one half")
  func ends() {
    #expect(AreaUnderCurve.of(positives: [3, 4], negatives: [1, 2]) == 1)
    #expect(AreaUnderCurve.of(positives: [1, 2], negatives: [3, 4]) == 0)
    #expect(AreaUnderCurve.of(positives: [5, 5, 5], negatives: [5, 5]) == 0.5)
  }

  @Test("Pairs won count one, ties one half, by hand")
  func ties() {
    // 3 beats 1 and 2 and ties with 3: 2.5; 2 beats 1 and ties with 2: 1.5; 0 beats none: 0.
    #expect(AreaUnderCurve.of(positives: [3, 2, 0], negatives: [2, 1, 3]) == 4.0 / 9)
    // 5 ties twice and beats one of four: 2; 9 beats all: 4.
    #expect(AreaUnderCurve.of(positives: [9, 5], negatives: [5, 5, 1, 7]) == 6.0 / 8)
  }

  @Test("Without one of the groups there is nothing to tell")
  func empty() {
    #expect(AreaUnderCurve.of(positives: [], negatives: [1]) == nil)
    #expect(AreaUnderCurve.of(positives: [1], negatives: []) == nil)
  }

  @Test("It is the share of pairs, whatever the scores")
  func pairs() {
    let positives = (0..<40).map { Double($0 * 37 % 17) }
    let negatives = (0..<30).map { Double($0 * 23 % 13) }
    let won = positives.reduce(0.0) { sum, score in
      sum + negatives.reduce(0) { $0 + (score > $1 ? 1 : score == $1 ? 0.5 : 0) }
    }
    #expect(AreaUnderCurve.of(positives: positives, negatives: negatives) == won / 1_200)
  }
}
