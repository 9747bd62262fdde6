// SPDX-License-Identifier: Apache-2.0

/// The sentences of the servers that an official can cause, in the languages of the console.
///
/// The servers write them in English, because commands print them too. A sentence that is not listed stays as it is.
enum ServerSentences {
  /// The sentence in `language`.
  static func text(_ sentence: String, in language: ConsoleLanguage) -> String {
    guard language != .english else { return sentence }
    for phrase in phrases {
      guard let values = values(of: sentence, in: phrase.english) else { continue }
      return phrase[language].filled(with: values.map { self.text($0, in: language) })
    }
    return sentence
  }

  /// The values of `%1`, `%2` and so on in `sentence`; nil if it is not of the form of `pattern`.
  static func values(of sentence: String, in pattern: String) -> [String]? {
    let parts = pattern.split(separator: /%[0-9]/, omittingEmptySubsequences: false)
    guard let first = parts.first, let last = parts.last, sentence.hasPrefix(first),
      sentence.hasSuffix(last)
    else { return nil }
    guard parts.count > 1 else { return sentence == pattern ? [] : nil }
    var rest = sentence.dropFirst(first.count)
    var values: [String] = []
    for part in parts.dropFirst().dropLast() {
      guard let place = rest.firstRange(of: part) else { return nil }
      values.append(String(rest[..<place.lowerBound]))
      rest = rest[place.upperBound...]
    }
    guard rest.count >= last.count, rest.hasSuffix(last) else { return nil }
    return values + [String(rest.dropLast(last.count))]
  }

  /// A form comes before the more general ones.
  private static let phrases =
    documentPhrases + fieldPhrases + registryPhrases + serverPhrases
    + auditPhrases + tokenPhrases + folderPhrases

  /// The faults of a typed document.
  private static let documentPhrases = [
    Phrase("not JSON.", "to nie jest JSON."),
    Phrase("The given data was not valid JSON.", "To nie jest poprawny JSON."),
    Phrase(
      "%1 is not a field, or its value is not accepted.",
      "%1 nie jest polem albo jego wartość nie jest dozwolona."
    ),
    Phrase("has another type.", "dokument ma inny typ."),
    Phrase("%1 has another type.", "%1 wartość innego typu."),
    Phrase("%1 must be a whole number", "%1 wymagana liczba całkowita"),
    Phrase("version must not be negative.", "version nie może być ujemna."),
  ]

  /// The faults of fields of a remote configuration.
  private static let fieldPhrases = [
    Phrase(
      "%1 must hold %2 ascending values from %3 to %4.",
      "%1: wymagane rosnące wartości w liczbie %2, od %3 do %4."
    ),
    Phrase(
      "%1 must hold %2 values from %3 to %4.", "%1: wymagane wartości w liczbie %2, od %3 do %4."
    ),
    Phrase(
      "%1 must map days from -14 to 14 to risks from 0 to 8.",
      "%1: dniom od -14 do 14 należy przypisać ryzyko od 0 do 8."
    ),
    Phrase(
      "%1 must map days from -14 to 14, or \"unknown\", to 0, 1 or 2.",
      "%1: dniom od -14 do 14 lub \"unknown\" należy przypisać 0, 1 lub 2."
    ),
    Phrase(
      "%1 must have a day above 0; without one, no key is shared.",
      "%1: co najmniej jeden dzień musi mieć wartość powyżej 0, inaczej żaden klucz nie zostanie udostępniony."
    ),
    Phrase(
      "%1 must have a day above 0; without one, version 2 detects nothing.",
      "%1: co najmniej jeden dzień musi mieć wartość powyżej 0, inaczej wersja 2 niczego nie wykryje."
    ),
    Phrase("%1 must have an entry.", "%1: wymagany co najmniej jeden wpis."),
    Phrase("%1 must not have overlapping ranges.", "%1: zakresy nie mogą się nakładać."),
    Phrase("%1 has %2 entries; %3 at most.", "%1: wpisów jest %2, a może być najwyżej %3."),
    Phrase("%1 must be within %2 and %3.", "%1: wymagany zakres od %2 do %3."),
    Phrase("%1 has a min above its max.", "%1: min jest większe od max."),
    Phrase(
      "%1 names a transmissionRiskLevel twice.", "%1: transmissionRiskLevel występuje dwa razy."
    ),
    Phrase("%1 must be more than %2.", "%1: wymagana wartość większa niż %2."),
    Phrase("%1 must be %2 to %3.", "%1: wymagana wartość od %2 do %3."),
    Phrase("%1 is missing.", "%1: brak wartości."),
  ]

  /// The refusals of the register of authorities and apps.
  private static let registryPhrases = [
    Phrase(
      "An authority needs an issuer and an audience.", "Organ musi mieć wystawcę i odbiorcę."
    ),
    Phrase(
      """
      An issuer, an audience and a key id must have 1 to %1 visible characters in one line, without spaces \
      around them.
      """,
      """
      Wystawca, odbiorca i identyfikator klucza muszą mieć od 1 do %1 widocznych znaków w jednym wierszu, bez \
      spacji na początku i na końcu.
      """
    ),
    Phrase(
      "The key %1 of %2 must be a P-256 public key in PEM.",
      "Klucz %1 organu %2 musi być kluczem publicznym P-256 w PEM."
    ),
    Phrase(
      "The authority %1 is new: it needs an audience.", "Organ %1 jest nowy: musi mieć odbiorcę."
    ),
    Phrase(
      "The authority %1 is new: it needs a key, or the address of its key set.",
      "Organ %1 jest nowy: musi mieć klucz albo adres zbioru kluczy."
    ),
    Phrase(
      """
      The address of %1's keys must begin with https (http only on this machine), and have a host, no user, and a \
      port of 1 to 65535 if any.
      """,
      """
      Adres kluczy organu %1 musi zaczynać się od https (http tylko na tym komputerze), mieć host, nie mieć \
      użytkownika, a port, jeśli jest podany, musi być od 1 do 65535.
      """
    ),
    Phrase(
      "The authority %1 is unknown: add it first.", "Organ %1 jest nieznany: najpierw go dodaj."
    ),
    Phrase(
      """
      %1 is the issuer of our own verification server: its keys come from that server and cannot be added. \
      Name it as an authority of an app without adding it.
      """,
      """
      %1 to wystawca naszego serwera weryfikacji: jego klucze pochodzą z tego serwera i nie można ich dodać. \
      Podaj go jako organ aplikacji bez dodawania.
      """
    ),
    Phrase(
      "%1 is an authority of the configuration: change it there.",
      "%1 jest organem z konfiguracji: zmień go tam."
    ),
    Phrase(
      """
      The issuer %1 looks like the known issuer %2: use that one, or a name that nobody can confuse with it.
      """,
      "Wystawca %1 wygląda jak znany wystawca %2: użyj znanego albo nazwy, której nie da się z nim pomylić."
    ),
    Phrase(
      "The app %1 looks like the known app %2: check the spelling.",
      "Aplikacja %1 wygląda jak znana aplikacja %2: sprawdź pisownię."
    ),
    Phrase(
      """
      The app %1 would use an authority that has apps of its own: name another app or authority.
      """,
      "Aplikacja %1 używałaby organu, który ma własne aplikacje: podaj inną aplikację lub inny organ."
    ),
    Phrase(
      "The region %1 of the app %2 is that of a realm: leave it out.",
      "Region %1 aplikacji %2 należy do innej instytucji tej instalacji: pomiń go."
    ),
    Phrase(
      "The key %1 of %2 was withdrawn and cannot be added again: add a new key with another id.",
      "Klucz %1 organu %2 wycofano i nie można go dodać ponownie: dodaj nowy klucz z innym identyfikatorem."
    ),
    Phrase(
      "The audience of %1 is %2: leave it, or remove the authority first.",
      "Odbiorcą organu %1 jest %2: zostaw go albo najpierw usuń organ."
    ),
    Phrase(
      "%1 has another key with the id %2: give the new key another id.",
      "%1 ma inny klucz o identyfikatorze %2: nadaj nowemu kluczowi inny identyfikator."
    ),
    Phrase(
      "A new app needs regions and authorities.", "Nowa aplikacja musi mieć regiony i organy."
    ),
    Phrase(
      """
      app %1: no export includes the keys of %2, so they would be accepted and never published: add an export of %3 \
      to furtherExports.
      """,
      """
      Aplikacja %1: żaden eksport nie obejmuje kluczy %2, więc zostałyby przyjęte i nigdy nie opublikowane: dodaj \
      eksport %3 do furtherExports.
      """
    ),
    Phrase("An app needs an id.", "Aplikacja musi mieć identyfikator."),
    Phrase(
      "A region is two upper-case letters, such as PL, and '%1' is not.",
      "Region to dwie wielkie litery, np. PL, a „%1” nim nie jest."
    ),
    Phrase("The app %1: %2", "Aplikacja %1: %2"),
    Phrase("name: must have %1 to %2 characters.", "Nazwa musi mieć od %1 do %2 znaków."),
  ]

  /// The sentences about servers that are elsewhere or have no data yet.
  private static let serverPhrases = [
    Phrase("Default SMS template", "Domyślna treść SMS-a"),
    Phrase(
      """
      No verification server is known: set verificationURL and apiKeyFile in console/settings.json, then restart \
      the console.
      """,
      """
      Serwer weryfikacji nie jest znany: ustaw verificationURL i apiKeyFile w console/settings.json, a potem uruchom \
      konsolę ponownie.
      """
    ),
    Phrase(
      "The key server is shared: ask the authority of the installation, which administers it.",
      "Serwer kluczy jest wspólny: zwróć się do głównego organu instalacji, który nim zarządza."
    ),
    Phrase(
      """
      The key server has no data in the folder of this console: use `firebreak key-server` on its machine.
      """,
      "W folderze tej konsoli nie ma danych serwera kluczy: użyj `firebreak key-server` na jego komputerze."
    ),
    Phrase(
      """
      The verification server has no data in the folder of this console: use `firebreak verification-server` on \
      its machine.
      """,
      """
      W folderze tej konsoli nie ma danych serwera weryfikacji: użyj `firebreak verification-server` na jego \
      komputerze.
      """
    ),
    Phrase(
      "The key server of this folder has no database yet: start it first.",
      "Serwer kluczy tego folderu nie ma jeszcze bazy danych: najpierw go uruchom."
    ),
    Phrase(
      "The key server of %1 has no device configuration yet: start it first.",
      "Serwer kluczy w %1 nie ma jeszcze konfiguracji urządzeń: najpierw go uruchom."
    ),
    Phrase(
      """
      A device configuration withdraws at most %1 files, and %2 are withdrawn: pause the phones, or end withdrawals \
      with `withdraw --undo`.
      """,
      "Można wycofać najwyżej %1 plików, a wycofano już %2: wstrzymaj telefony albo cofnij wycofania."
    ),
  ]

  /// The faults of the audit log.
  private static let auditPhrases = [
    Phrase(
      """
      No entry was written with the console's secret: the log was replaced, or it is of a version without a key; \
      then start the console once.
      """,
      """
      Żaden wpis nie powstał z kluczem tej konsoli: dziennik podmieniono albo pochodzi z wersji bez klucza; wtedy \
      uruchom raz konsolę.
      """
    ),
    Phrase(
      "No entry was written with the console's secret: the log was replaced.",
      "Żaden wpis nie powstał z kluczem tej konsoli: dziennik podmieniono."
    ),
    Phrase(
      "Entry %1 is missing: the log continues with entry %2.",
      "Brakuje wpisu %1: po nim jest wpis %2."
    ),
    Phrase(
      "Entry %1 does not follow the entry before it: one of them was replaced.",
      "Wpis %1 nie pasuje do poprzedniego: jeden z nich podmieniono."
    ),
    Phrase(
      "The %1 entries before entry %2 are not those of the upgrade: they were replaced.",
      "Wpisy przed wpisem %2 (%1) nie są tymi z aktualizacji: podmieniono je."
    ),
    Phrase(
      "Entry %1 was changed: its hash is not that of its fields.",
      "Wpis %1 zmieniono: jego skrót nie zgadza się z polami."
    ),
  ]
}
