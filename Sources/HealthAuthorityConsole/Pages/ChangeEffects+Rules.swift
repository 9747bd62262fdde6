// SPDX-License-Identifier: Apache-2.0
extension ChangeEffects {
  /// Describes each rule that would change.
  func describeRules(
    _ values: CodeRules.Values, _ texts: Texts, _ effect: inout ChangeEffect
  ) async throws {
    let present = try await authority.codeRules()
    for rule in CodeRule.allCases {
      // The limits may have changed since the form was sent.
      guard let range = rule.range(in: present.limits), let number = rule.number(in: values),
        !range.contains(number)
      else { continue }
      throw AuthorityFailure.refused(rule.fault(range, texts))
    }
    guard values.shortCodeSeconds <= values.longCodeSeconds else {
      throw AuthorityFailure.refused(texts[.rulesLongShorter])
    }
    let changed = CodeRule.allCases.filter {
      $0.text(values, texts) != $0.text(present.values, texts)
    }
    guard !changed.isEmpty else { throw AuthorityFailure.refused(texts[.rulesSame]) }
    effect.facts += changed.map { "\($0.setting) \($0.text(present.values, texts))" }
    effect.sentences =
      changed.map {
        texts[
          .effectRule, texts[$0.name], $0.text(values, texts), $0.text(present.values, texts)]
      } + [texts[.effectRules]]
  }
}
