// SPDX-License-Identifier: Apache-2.0

/// The refusals whose cause is in the folder of the servers, which only the operator can remove.
extension ServerSentences {
  static let folderPhrases = rootKeyPhrases + signingKeyPhrases + databasePhrases + filePhrases

  /// The refusals of a new device configuration, which each pause and each withdrawn file need.
  private static let rootKeyPhrases = [
    Phrase(
      "The root key is not in %1: name its file with --root-key.",
      """
      Klucza głównego nie ma w %1. Operator musi wykonać tę zmianę poleceniem `firebreak key-server` z opcją \
      --root-key.
      """
    ),
    Phrase(
      "--root-key: %1 does not belong to %2, which phones trust.",
      "Klucz główny %1 nie pasuje do %2, któremu ufają telefony."
    ),
    Phrase(
      "%1 and %2 are missing: restore one of them from a backup.",
      "Brakuje plików %1 i %2: przywróć jeden z nich z kopii zapasowej."
    ),
    Phrase(
      "%1 is missing or not a public key: restore it from a backup.",
      "Pliku %1 brakuje albo nie jest kluczem publicznym: przywróć go z kopii zapasowej."
    ),
    Phrase(
      """
      %1 is missing: restore it from a backup, or run `firebreak key-server device-configuration publish`.
      """,
      """
      Brakuje pliku %1: przywróć go z kopii zapasowej albo użyj polecenia \
      `firebreak key-server device-configuration publish`.
      """
    ),
    Phrase(
      "Device configuration rejected: it is malformed; download it again.",
      "Odrzucono konfigurację urządzeń: jest uszkodzona; pobierz ją ponownie."
    ),
    Phrase(
      "Device configuration rejected: the root key did not sign it; check the server and the root key.",
      "Odrzucono konfigurację urządzeń: nie podpisał jej klucz główny; sprawdź serwer i klucz główny."
    ),
    Phrase("Device configuration rejected: %1", "Odrzucono konfigurację urządzeń: %1"),
  ]

  private static let signingKeyPhrases = [
    Phrase(
      """
      The newest signing key is on a token: name the next one with `firebreak %1 signing-key rotate --key \
      pkcs11:...`, or use --key %2.
      """,
      """
      Najnowszy klucz podpisujący jest na tokenie: wskaż następny poleceniem `firebreak %1 signing-key rotate \
      --key pkcs11:...` albo użyj --key %2.
      """
    ),
    Phrase(
      """
      %1 has no signing key that is valid now: add one with `firebreak key-server signing-key add --from %2`.
      """,
      """
      W %1 nie ma klucza podpisującego, który jest teraz ważny: dodaj go poleceniem `firebreak key-server \
      signing-key add --from %2`.
      """
    ),
    Phrase(
      "An environment variable sets a rule for codes and replaces %1: change it there.",
      "Zmienna środowiskowa ustawia regułę dla kodów i zastępuje %1: zmień ją tam."
    ),
  ]

  /// The faults of databases, and of servers that were never started.
  private static let databasePhrases = [
    Phrase(
      "The key server of %1 has no apps and authorities yet: add one, or start it first.",
      "Serwer kluczy w %1 nie ma jeszcze aplikacji ani organów: dodaj je albo najpierw uruchom serwer."
    ),
    Phrase(
      "The verification server of %1 has no keys yet: add one, or start it first.",
      "Serwer weryfikacji w %1 nie ma jeszcze kluczy: dodaj klucz albo najpierw uruchom serwer."
    ),
    Phrase(
      "The key server of %1 has no keys yet: start it first.",
      "Serwer kluczy w %1 nie ma jeszcze kluczy: najpierw go uruchom."
    ),
    Phrase(
      "The %1 was written by a newer version of Firebreak: start that version, or restore an older backup.",
      """
      Bazę danych (%1) zapisała nowsza wersja programu Firebreak: uruchom tę wersję albo przywróć starszą kopię \
      zapasową.
      """
    ),
    Phrase(
      "The %1 was created with another secret: restore both from one backup.",
      "Bazę danych (%1) utworzono z innym sekretem: przywróć oba z jednej kopii zapasowej."
    ),
    Phrase(
      """
      The %1 in PostgreSQL is empty, and this server had another one: correct DATABASE_URL, or restore the \
      database; to start without its data, delete postgresql.json in the folder of the server.
      """,
      """
      Baza danych (%1) w PostgreSQL jest pusta, a ten serwer miał inną: popraw DATABASE_URL albo przywróć bazę; aby \
      zacząć bez jej danych, usuń postgresql.json w folderze serwera.
      """
    ),
    Phrase(
      """
      The %1 in PostgreSQL denies the role of this process what it needs (%2): run `firebreak database migrate` \
      with a role that owns the tables.
      """,
      """
      Baza danych (%1) w PostgreSQL odmawia roli tego procesu potrzebnych praw (%2): użyj polecenia \
      `firebreak database migrate` z rolą, do której należą tabele.
      """
    ),
  ]

  private static let filePhrases = [
    Phrase(
      "%1 is missing, and %2 has its key files: restore a backup, or move the key files away to start without them.",
      """
      Brakuje %1, a w %2 są pliki kluczy: przywróć kopię zapasową albo przenieś pliki kluczy, aby zacząć bez nich.
      """
    ),
    Phrase(
      "%1 does not belong to the database %2: copy the secrets of the servers that use it.",
      "%1 nie pasuje do bazy danych %2: skopiuj sekrety serwerów, które jej używają."
    ),
    Phrase(
      "%1 does not belong to %2: move the folder away and restore both from one backup.",
      "%1 nie pasuje do %2: przenieś folder i przywróć oba z jednej kopii zapasowej."
    ),
    Phrase(
      "%1 is missing: restore it from a backup.",
      "Brakuje pliku %1: przywróć go z kopii zapasowej."
    ),
    Phrase("%1 is missing: restore a backup.", "Brakuje pliku %1: przywróć kopię zapasową."),
    Phrase(
      "%1 cannot be read: check its permissions, or restore it from a backup.",
      "Pliku %1 nie można odczytać: sprawdź jego prawa dostępu albo przywróć go z kopii zapasowej."
    ),
    Phrase(
      "%1: %2 Restore the file from a backup.",
      "%1: %2 Przywróć plik z kopii zapasowej."
    ),
  ]
}
