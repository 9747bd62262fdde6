// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP

/// The rules for codes: issuers see them, administrators request other ones, which a second person approves.
struct CodeRulePages: Sendable {
  let pages: PageRouter
  let authority: any AdministeredAuthority
  let changes: ChangePages

  func add(to router: Router<QuietContext>) {
    pages.get(router, "/codes/rules", .holders(of: .issueCodes)) { try await show($0) }
    pages.post(router, "/codes/rules", .holders(of: .administerKeys), change)
  }

  private func show(
    _ visit: Visit, _ typed: Form? = nil, fault: String? = nil
  ) async throws -> Response {
    let (texts, rules) = (visit.texts, try await authority.codeRules())
    let templates = rules.smsTemplates.map { texts.sentence($0) }.joined(separator: ", ")
    let rows =
      [[texts[.rulesQuota], "\(rules.codesPerDay)", "attempts.issuesPerApiKey"]]
      + CodeRule.allCases.map { [texts[$0.name], $0.text(rules.values, texts), $0.setting] }
      + [[texts[.rulesTemplates], templates.isEmpty ? texts[.none] : templates, "sms.templates"]]
    let mayChange = try visit.account.role.rights.contains(.administerKeys)
    var values: [String: Any] = [
      "rows": rows.map { ["name": $0[0], "value": $0[1], "setting": $0[2]] },
      "mayChange": mayChange,
      "fields": CodeRule.allCases.compactMap { Self.field($0, rules, typed, texts) },
      "requiresDate": typed.map { !$0[CodeRule.date.field].isEmpty } ?? rules.values.requiresDate,
    ]
    if let fault { values["fault"] = fault }
    return pages.renderer.response(
      Page(
        texts[.rulesTitle], .codeRules, values, status: fault == nil ? .ok : .unprocessableContent),
      for: visit)
  }

  /// The values of the field of a rule with a number.
  private static func field(
    _ rule: CodeRule, _ rules: CodeRules, _ typed: Form?, _ texts: Texts
  ) -> [String: String]? {
    guard let number = rule.number(in: rules.values), let range = rule.range(in: rules.limits)
    else { return nil }
    let bounds: TextKey = rule == .digits ? .rulesDigitBounds : .rulesMinuteBounds
    return [
      "field": rule.field, "name": texts[rule.name], "value": typed?[rule.field] ?? "\(number)",
      "min": "\(range.lowerBound)", "max": "\(range.upperBound)",
      "bounds": texts[bounds, "\(range.lowerBound)", "\(range.upperBound)"],
    ]
  }

  private func change(_ visit: Visit, _ form: Form) async throws -> Response {
    let (texts, rules) = (visit.texts, try await authority.codeRules())
    var values = rules.values
    values.requiresDate = !form[CodeRule.date.field].isEmpty
    for rule in CodeRule.allCases {
      guard let range = rule.range(in: rules.limits) else { continue }
      guard let number = Int64(form[rule.field]), range.contains(number) else {
        return try await show(visit, form, fault: rule.fault(range, texts))
      }
      rule.set(number, in: &values)
    }
    do {
      return try await changes.ask(.setCodeRules(values: values), visit)
    } catch AuthorityFailure.refused(let message) {
      return try await show(visit, form, fault: texts.sentence(message))
    }
  }
}

/// The template of the rules for codes.
enum CodeRuleTemplates {
  static let rules = """
    <h1>{{t.rulesTitle}}</h1>
    <p class="lead">{{t.rulesLead}}</p>
    \(LayoutTemplate.notices)
    \(LayoutTemplate.wide("rules-caption"))
    <table id="rules"><caption id="rules-caption">{{t.rulesTitle}}</caption>
    <thead><tr><th scope="col">{{t.rulesRule}}</th><th scope="col">{{t.rulesValue}}</th>
    <th scope="col">{{t.rulesSetting}}</th></tr></thead>
    <tbody>
    {{#rows}}<tr><th scope="row">{{name}}</th><td>{{value}}</td><td><code>{{setting}}</code></td></tr>{{/rows}}
    </tbody></table></div>
    {{#mayChange}}
    <section class="card" aria-labelledby="change-title">
    <h2 id="change-title">{{t.rulesChange}}</h2>
    <p class="help">{{t.rulesChangeHelp}}</p>
    <form method="post" action="/codes/rules">\(LayoutTemplate.token)
    {{#fields}}
    <label for="{{field}}">{{name}}</label>
    <input id="{{field}}" name="{{field}}" value="{{value}}" type="number" min="{{min}}" max="{{max}}"\
     required class="short" aria-describedby="{{field}}-bounds">
    <p class="help" id="{{field}}-bounds">{{bounds}}</p>
    {{/fields}}
    <label class="choice"><input type="checkbox" name="date" value="on"\
    {{#requiresDate}} checked{{/requiresDate}}> {{t.rulesDate}}</label>
    <button id="change-rules" class="primary">{{t.rulesAsk}}</button>
    </form>
    </section>
    {{/mayChange}}
    """
}
