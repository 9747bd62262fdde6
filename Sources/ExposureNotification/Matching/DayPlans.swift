import Synchronization

/// The plans of all groups of keys, each made when the first key of its group comes.
final class DayPlans: Sendable {
  private let index: ContactIndex
  private let tier: MatchTier
  private let direction: MatchDirection
  private let known = Mutex<[Int: DayPlan]>([:])

  init(_ index: ContactIndex, tier: MatchTier, direction: MatchDirection) {
    self.index = index
    self.tier = tier
    self.direction = direction
  }

  /// The plan of `group`. Threads that ask at the same time wait for one of them to make it.
  func plan(of group: Int) -> DayPlan {
    known.withLock { known in
      if let plan = known[group] { return plan }
      let plan = DayPlan(
        for: index.identifiers(near: index.reach.intervals(of: group)), secret: index.secret,
        tier: tier, direction: direction)
      known[group] = plan
      return plan
    }
  }
}
