// SPDX-License-Identifier: Apache-2.0
/// The values for the template of a preview: the effect by source of the contacts and by version of the phones.
enum ConfigurationEffectTable {
  static func values(of effect: ConfigurationEffect, _ texts: Texts) -> [[String: Any]] {
    let simulated = source(
      texts[.configurationSimulated],
      texts[.configurationSimulatedLead, "\(effect.simulated.count)"], "", effect.simulated, texts)
    let recorded = effect.recorded.map { phones in
      source(
        texts[.configurationRecorded], texts[.configurationRecordedLead, "\(phones.count)"],
        "recorded-", phones, texts)
    }
    return [simulated] + (recorded.map { [$0] } ?? [])
  }

  /// - Parameter prefix: The start of the ids of the elements of this source.
  private static func source(
    _ name: String, _ lead: String, _ prefix: String, _ phones: ConfigurationEffect.Phones,
    _ texts: Texts
  ) -> [String: Any] {
    let versions: [(Int, TextKey, ConfigurationEffect.Version)] = [
      (1, .configurationVersion1, phones.version1), (2, .configurationVersion2, phones.version2),
    ]
    let values = versions.map { number, key, version -> [String: Any] in
      [
        "id": "\(prefix)\(number)", "name": texts[key],
        "caption": "\(texts[.configurationEffectCaption]): \(name), \(texts[key])",
        "notices": notices(version.notices, of: phones.count, texts),
        "changed": texts[
          .configurationDiffering, "\(version.days.changed)", "\(version.contacts.changed)"],
        "rows": rows(version, texts),
      ]
    }
    return ["name": name, "lead": lead, "versions": values]
  }

  private static func notices(
    _ notices: ConfigurationEffect.Comparison, of count: Int, _ texts: Texts
  ) -> String {
    texts[
      .configurationNotices, "\(notices.changed)", "\(count)", "\(count - notices.before.none)",
      "\(count - notices.after.none)"]
  }

  private static func rows(
    _ version: ConfigurationEffect.Version, _ texts: Texts
  ) -> [[String: String]] {
    [
      (TextKey.configurationWindows, version.contacts), (.configurationDays, version.days),
      (.configurationPhones, version.notices),
    ].flatMap { kind, comparison in
      [
        row(texts[kind], texts[.configurationBefore], comparison.before),
        row(texts[kind], texts[.configurationAfter], comparison.after),
      ]
    }
  }

  private static func row(
    _ kind: String, _ when: String, _ levels: ConfigurationEffect.Levels
  ) -> [String: String] {
    [
      "name": "\(kind), \(when.lowercased())", "none": "\(levels.none)", "low": "\(levels.low)",
      "medium": "\(levels.medium)", "high": "\(levels.high)",
    ]
  }
}
