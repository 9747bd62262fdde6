// SPDX-License-Identifier: Apache-2.0

/// The detail of an entry of the audit log in the language of a page. The log and its copies have the stored text,
/// which is English. What a person has typed is not translated.
enum AuditDetail {
  /// The text for a page; the stored one if it has no words of the console.
  static func text(of entry: AuditEntry, _ texts: Texts) -> String {
    switch AuditAction(rawValue: entry.action) {
    case .failed: failure(entry.detail, texts)
    case .changeRequested: request(entry.detail, texts)
    case .paused: pause(entry.detail, texts)
    case .signInFailed, .nameLocked:
      entry.detail.split(separator: ", ").map { phrase(String($0), texts) }.joined(separator: ", ")
    case .proposed, .passkeyAdded, .passkeyRemoved: entry.detail
    default: phrase(entry.detail, texts)
    }
  }

  /// The action that failed, in words, and the kind of the failure.
  private static func failure(_ detail: String, _ texts: Texts) -> String {
    guard let values = ServerSentences.values(of: detail, in: "%1: %2") else { return detail }
    return "\(texts.action(values[0])): \(phrase(values[1], texts))"
  }

  /// A request is the hash of its document, its action with the values, and the reason that was typed.
  private static func request(_ detail: String, _ texts: Texts) -> String {
    guard let values = ServerSentences.values(of: detail, in: "SHA-256 %1, %2") else {
      return detail
    }
    var summary = Substring(values[1])
    var words = "SHA-256 \(values[0]), "
    if summary.hasPrefix("alone, ") {
      words += phrase("alone", texts) + ", "
      summary = summary.dropFirst("alone, ".count)
    }
    let action = summary.prefix { $0 != " " && $0 != ":" }
    let rest = String(summary.dropFirst(action.count))
    let isTranslated = AuditAction(rawValue: String(action)).map(withValues.contains) ?? false
    return words + texts.action(String(action)) + (isTranslated ? bracketed(rest, texts) : rest)
  }

  /// The requests whose values are in brackets after the subject. The subject of another may end in brackets, too.
  private static let withValues: Set<AuditAction> = [
    .paused, .codeRulesChanged, .authorityAdded, .authorityKeyWithdrawn, .appAdded, .accountAdded,
  ]

  private static func bracketed(_ rest: String, _ texts: Texts) -> String {
    // Brackets after a colon are those of the reason.
    guard let values = ServerSentences.values(of: rest, in: "%1 (%2): %3"),
      !values[0].contains(": ")
    else { return rest }
    return "\(values[0]) (\(phrase(values[1], texts))): \(values[2])"
  }

  private static func pause(_ detail: String, _ texts: Texts) -> String {
    guard let end = ServerSentences.values(of: detail, in: "until %1").flatMap({ Int64($0[0]) })
    else { return phrase(detail, texts) }
    return phrase("until \(texts.time(end))", texts)
  }

  private static func phrase(_ detail: String, _ texts: Texts) -> String {
    for phrase in phrases {
      guard let values = ServerSentences.values(of: detail, in: phrase.english) else { continue }
      return phrase[texts.language].filled(with: values)
    }
    return detail
  }

  /// A form comes before the more general ones.
  private static let phrases = [
    Phrase("password and code", "hasło i kod"),
    Phrase("passkey", "klucz dostępu"),
    Phrase("%1 more", "dalsze: %1"),
    Phrase("from other networks", "z innych sieci"),
    Phrase("from %1", "z %1"),
    Phrase("issuer", "wydawca kodów"),
    Phrase("epidemiologist", "epidemiolog"),
    Phrase("administrator", "administrator"),
    Phrase("%1 hours", "godziny: %1"),
    Phrase("%1 accounts", "konta: %1"),
    Phrase("withdrawn: %1", "wycofane wnioski: %1"),
    Phrase("as before the restoration", "jak przed przywróceniem"),
    Phrase("approved by %1 before the restoration", "zatwierdzenie (%1) sprzed przywrócenia"),
    Phrase("rejected by %1 before the restoration", "odrzucenie (%1) sprzed przywrócenia"),
    Phrase("alone by %1 before the restoration", "samodzielnie (%1) sprzed przywrócenia"),
    Phrase("confirmed", "potwierdzony"),
    Phrase("likely", "prawdopodobny"),
    Phrase("%1 codes by SMS", "kody SMS-em: %1"),
    Phrase("%1 codes", "kody: %1"),
    Phrase("alone", "samodzielnie"),
    Phrase("until resumed", "do wznowienia"),
    Phrase("until %1", "do %1"),
    Phrase("%1 files: %2", "pliki (%1): %2"),
    Phrase(
      "PIN %1 s, short code %2 s and %3 digits, long code %4 s, date required",
      "PIN %1 s, kod krótki %2 s i cyfr %3, kod długi %4 s, data wymagana"
    ),
    Phrase(
      "PIN %1 s, short code %2 s and %3 digits, long code %4 s, date not required",
      "PIN %1 s, kod krótki %2 s i cyfr %3, kod długi %4 s, data niewymagana"
    ),
    Phrase("key %1, SHA-256 %2, audience unchanged", "klucz %1, SHA-256 %2, odbiorca bez zmian"),
    Phrase("key %1, SHA-256 %2, audience %3", "klucz %1, SHA-256 %2, odbiorca %3"),
    Phrase("key %1", "klucz %1"),
    Phrase("regions %1, authorities %2", "regiony %1, organy %2"),
    Phrase("%1 entries before, head %2", "wpisów wcześniej: %1, skrót %2"),
    Phrase("refused", "odmowa"),
    Phrase("not found", "nie znaleziono"),
    Phrase("issued before", "wydano wcześniej"),
    Phrase("changed before", "zmieniono wcześniej"),
    Phrase("unavailable", "serwer nie odpowiada"),
    Phrase("not offered", "niedostępne w tej konsoli"),
  ]
}
