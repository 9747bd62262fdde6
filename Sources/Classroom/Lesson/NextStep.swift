/// The step of a lesson that the teacher's page proposes.
enum NextStep: Hashable, Sendable {
  /// The class joins.
  case join
  /// The first person is infected.
  case infect
  /// Time passes until a person feels ill.
  case wait
  /// The people with these phones feel ill and ask for a test.
  case test([Int])
  /// The people with these phones enter their PINs.
  case share([Int])
  /// The key server publishes, and phones check.
  case publish
  /// The class looks at the result.
  case discuss
}

extension LessonState {
  /// The step that comes next, by the phones that are in the class.
  var nextStep: NextStep {
    let present = phones.filter { !$0.isFree }
    guard present.count >= ClassLimit.phonesMin else { return .join }
    guard phones.contains(where: { $0.health != .well }) else { return .infect }
    let untested = present.filter { $0.health == .ill && $0.diagnosis.diagnosed == nil }
    guard untested.isEmpty else { return .test(untested.map(\.number)) }
    let unshared = present.filter { $0.diagnosis.diagnosed != nil && $0.diagnosis.shared == nil }
    guard unshared.isEmpty else { return .share(unshared.map(\.number)) }
    guard phones.contains(where: { $0.diagnosis.shared != nil }) else { return .wait }
    let isWaiting = phones.contains {
      [.missed(.notPublished), .missed(.notChecked)].contains($0.outcome)
    }
    return isWaiting ? .publish : .discuss
  }
}
