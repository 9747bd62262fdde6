// SPDX-License-Identifier: Apache-2.0
extension Texts {
  /// The effects of changes.
  static let effectPhrases: [TextKey: Phrase] = [
    .effectPause: Phrase(
      """
      All phones of these servers stop checking and uploading at their next check, until about %1. They \
      lose nothing.
      """,
      """
      Wszystkie telefony tych serwerów przy następnym sprawdzeniu przestaną sprawdzać i przesyłać, do \
      około %1. Niczego nie tracą.
      """
    ),
    .effectPauseOpen: Phrase(
      """
      All phones of these servers stop checking and uploading at their next check, until they are resumed. \
      They lose nothing.
      """,
      """
      Wszystkie telefony tych serwerów przy następnym sprawdzeniu przestaną sprawdzać i przesyłać, do \
      wznowienia. Niczego nie tracą.
      """
    ),
    .effectResume: Phrase(
      "All phones of these servers check and upload again from their next check on.",
      "Wszystkie telefony tych serwerów od następnego sprawdzenia znów sprawdzają i przesyłają."
    ),
    .effectWithdraw: Phrase(
      """
      All phones ignore these files (%1) with their keys (%2, padding included), and undo the exposures \
      found through them. They are the file and its copies in all exports:
      """,
      """
      Wszystkie telefony pominą pliki w liczbie %1, które mają razem %2 kluczy z uzupełnieniem, i cofną narażenia \
      wykryte dzięki nim. To plik i jego kopie we wszystkich eksportach:
      """
    ),
    .effectRestore: Phrase(
      "All phones read these files (%1) again. They are the file and its withdrawn copies in all exports:",
      """
      Wszystkie telefony znów odczytają pliki w liczbie %1. To plik i jego wycofane kopie we wszystkich \
      eksportach:
      """
    ),
    .effectFile: Phrase("%1: %2, keys: %3", "%1: %2, kluczy: %3"),
    .effectExpiredFile: Phrase(
      "a file that no export has any more, with the SHA-256 %1",
      "plik, którego nie ma już żaden eksport, o SHA-256 %1"
    ),
    .effectRotateFiles: Phrase(
      """
      A key is added to the present %1, which end after an overlap. All phones learn it with their next check, a day \
      before it signs. The %2 listed key files keep their signature, which phones accept until the old key ends.
      """,
      """
      Do obecnych kluczy (%1), które wygasną po okresie przejściowym, dojdzie nowy. Wszystkie telefony poznają \
      go przy następnym sprawdzeniu, dzień przed użyciem. Pliki kluczy z listy (%2) zachowają podpis, przyjmowany \
      do wygaśnięcia starego klucza.
      """
    ),
    .effectRule: Phrase("%1: %2 instead of %3.", "%1: %2 zamiast %3."),
    .effectRules: Phrase(
      "Codes that were issued before keep their validity.",
      "Kody wydane wcześniej zachowują swoją ważność."
    ),
    .effectRotateTokens: Phrase(
      """
      A key is added to the present %1, which end after an overlap. All phones go on: tokens and certificates that \
      they have stay valid.
      """,
      """
      Do obecnych kluczy (%1), które wygasną po okresie przejściowym, dojdzie nowy. Wszystkie telefony działają \
      dalej: ich tokeny i certyfikaty pozostają ważne.
      """
    ),
    .effectKeyDevice: Phrase(
      "All phones with an app that has the key can redeem codes.",
      "Wszystkie telefony z aplikacją, która ma ten klucz, mogą wykorzystywać kody."
    ),
    .effectKeyAdmin: Phrase(
      "A system that has the key can issue and end any number of codes, with which phones upload keys.",
      """
      System, który ma ten klucz, może wydawać i unieważniać dowolnie wiele kodów, którymi telefony \
      przesyłają klucze.
      """
    ),
    .effectKeyStats: Phrase(
      "A program that has the key can read the numbers of codes.",
      "Program, który ma ten klucz, może czytać liczby kodów."
    ),
    .effectSecret: Phrase(
      "It is shown once, to the person who approves, who hands it to %1.",
      "Zobaczy to raz osoba, która zatwierdzi, i przekaże to: %1."
    ),
    .effectRevoke: Phrase(
      """
      All requests with the key of %1 (%2) are refused from then on, for good. Codes that were issued with it \
      and were not used yet end: the people who have them need new ones.
      """,
      """
      Wszystkie żądania z kluczem %1 (%2) będą odtąd odrzucane, na stałe. Kody wydane tym kluczem, których nikt \
      jeszcze nie użył, stracą ważność: osoby, które je mają, potrzebują nowych.
      """
    ),
    .effectLiveCodes: Phrase(
      "The number of these codes now: %1.",
      "Liczba takich kodów teraz: %1."
    ),
    .effectFewLiveCodes: Phrase(
      "The number of these codes now: fewer than %1.",
      "Liczba takich kodów teraz: mniej niż %1."
    ),
    .effectUploads: Phrase(
      "Uploads of all apps on %1, the last day with a count: %2.",
      "Przesłania ze wszystkich aplikacji %1, w ostatnim policzonym dniu: %2."
    ),
    .effectAddAuthority: Phrase(
      """
      Certificates that the key %1 has signed let phones upload keys to all others. Apps that name this \
      authority: %2. Keys that it has stay.
      """,
      """
      Certyfikaty podpisane kluczem %1 pozwolą telefonom przesyłać klucze do wszystkich innych. Aplikacje z \
      tym organem: %2. Jego obecne klucze pozostają.
      """
    ),
    .effectFingerprint: Phrase(
      "SHA-256 of the public key, to be compared with the authority by another way: %1",
      "SHA-256 klucza publicznego, do porównania z organem inną drogą: %1"
    ),
    .effectAudience: Phrase(
      "Audience of its certificates: %1", "Odbiorca jego certyfikatów: %1"
    ),
    .effectRemoveAuthority: Phrase(
      """
      The keys of the authority (%1) end, and it is removed from its apps (%2): all uploads with its \
      certificates are refused within a minute.
      """,
      """
      Klucze organu (%1) tracą ważność, a organ znika z aplikacji (%2): wszystkie przesłania z jego \
      certyfikatami będą odrzucane w ciągu minuty.
      """
    ),
    .effectWithdrawKey: Phrase(
      """
      All uploads with certificates of this key are refused within a minute, and the key can never be added \
      again. The number of its other keys is %1. Apps that name it: %2.
      """,
      """
      Wszystkie przesłania z certyfikatami tego klucza będą odrzucane w ciągu minuty, a klucza nie można \
      dodać ponownie. Organ zachowa innych kluczy: %1. Aplikacje z tym organem: %2.
      """
    ),
    .effectAddApp: Phrase(
      "All phones with this app can upload keys for the regions %1 with certificates of %2.",
      """
      Wszystkie telefony z tą aplikacją mogą przesyłać klucze dla regionów %1 z certyfikatami organów %2.
      """
    ),
    .effectReplaceApp: Phrase(
      "It replaces the present entry: regions %1, authorities %2.",
      "Zastąpi to obecny wpis: regiony %1, organy %2."
    ),
    .effectRemoveApp: Phrase(
      """
      All uploads of phones with this app, for the regions %1, are refused within a minute. Other apps \
      stay: %2.
      """,
      """
      Wszystkie przesłania telefonów z tą aplikacją, dla regionów %1, będą odrzucane w ciągu minuty. Inne \
      aplikacje pozostają: %2.
      """
    ),
    .effectAddAccounts: Phrase(
      "The person who approves sees a link for each of these %1 accounts, and prints or sends them:",
      "Osoba zatwierdzająca zobaczy link do każdego z tych kont (%1) i je wydrukuje lub wyśle:"
    ),
    .effectAddAccount: Phrase(
      """
      A link for the holder is made. The account gets the role %1, and counts as one person with the one \
      who approves.
      """,
      """
      Powstanie link dla właściciela. Konto otrzyma rolę %1 i będzie liczone jako jedna osoba z tą, która \
      zatwierdzi.
      """
    ),
    .effectLink: Phrase(
      """
      When the link is used, the password, the code app, the sessions (%1) and the passkeys (%2) of the account \
      end, and it counts as one person with the one who approves.
      """,
      """
      Po użyciu linku kończą się hasło, aplikacja z kodami, sesje (%1) i klucze dostępu (%2) konta, a konto \
      będzie liczone jako jedna osoba z tą, która zatwierdzi.
      """
    ),
    .effectDisable: Phrase(
      """
      The sessions of the account (%1) and its link end, it cannot sign in, and its open requests are \
      withdrawn.
      """,
      """
      Sesje konta (%1) i jego link kończą się, nie można się na nie zalogować, a jego otwarte wnioski \
      zostaną wycofane.
      """
    ),
    .effectEnable: Phrase(
      "The account can sign in again with its old password and with its passkeys (%1).",
      "Na konto można znów zalogować się starym hasłem i kluczami dostępu (%1)."
    ),
  ]
}
