// SPDX-License-Identifier: Apache-2.0

/// The reasons why a key on a token cannot sign, which only the operator can remove.
extension ServerSentences {
  static let tokenPhrases = tokenStatePhrases + tokenKeyPhrases + pinPhrases

  private static let tokenStatePhrases = [
    Phrase(
      """
      The token of a signing key does not respond: check its device, its network and the service of its module. If \
      it stays so, restart the server.
      """,
      """
      Token klucza podpisującego nie odpowiada: sprawdź jego urządzenie, sieć i usługę jego modułu. Jeśli to nie \
      pomoże, uruchom serwer ponownie.
      """
    ),
    Phrase("The PKCS#11 URI cannot be used: %1.", "Nie można użyć adresu URI PKCS#11: %1."),
    Phrase(
      "The PKCS#11 module %1 cannot be loaded: %2: check module-path, and install the token's software.",
      "Nie można wczytać modułu PKCS#11 %1: %2: sprawdź module-path i zainstaluj oprogramowanie tokena."
    ),
    Phrase(
      """
      The token %1 is not present: insert it, or start its service; `pkcs11-tool --list-token-slots` lists the \
      tokens.
      """,
      """
      Nie ma tokena %1: włóż go albo uruchom jego usługę; polecenie `pkcs11-tool --list-token-slots` pokazuje \
      tokeny.
      """
    ),
    Phrase(
      "Several tokens are called %1: name the one with serial in the URI.",
      "Kilka tokenów ma nazwę %1: wskaż jeden z nich przez serial w URI."
    ),
    Phrase(
      "The connection to the token %1 was lost (%2: %3): insert the token, or start its service.",
      "Utracono połączenie z tokenem %1 (%2: %3): włóż token albo uruchom jego usługę."
    ),
    Phrase(
      "The PKCS#11 module %1 failed (%2: %3): check the token with pkcs11-tool.",
      "Błąd modułu PKCS#11 %1 (%2: %3): sprawdź token poleceniem pkcs11-tool."
    ),
    Phrase("The token cannot be used.", "Nie można użyć tokena."),
  ]

  private static let tokenKeyPhrases = [
    Phrase(
      "The token has no private key %1: `pkcs11-tool --list-objects` lists its keys.",
      "Na tokenie nie ma klucza prywatnego %1: polecenie `pkcs11-tool --list-objects` pokazuje jego klucze."
    ),
    Phrase(
      "The token has several private keys %1: name the one with object and id in the URI.",
      "Na tokenie jest kilka kluczy prywatnych %1: wskaż jeden z nich przez object i id w URI."
    ),
    Phrase(
      "The key %1 is not a P-256 key: create one with EC:prime256v1.",
      "Klucz %1 nie jest kluczem P-256: utwórz klucz EC:prime256v1."
    ),
    Phrase(
      """
      The key %1 needs the PIN at each signature (CKA_ALWAYS_AUTHENTICATE): create one that does not, because a \
      server signs without an operator.
      """,
      """
      Klucz %1 wymaga kodu PIN przy każdym podpisie (CKA_ALWAYS_AUTHENTICATE): utwórz klucz bez tego wymogu, bo \
      serwer podpisuje bez operatora.
      """
    ),
    Phrase(
      "The token has no public key %1 beside the private one: store it under the same label and id.",
      "Na tokenie nie ma klucza publicznego %1 obok prywatnego: zapisz go z tą samą etykietą i tym samym id."
    ),
    Phrase(
      "The key %1 on the token is not the one that was registered: insert the right token.",
      "Klucz %1 na tokenie nie jest tym, który zarejestrowano: włóż właściwy token."
    ),
  ]

  private static let pinPhrases = [
    Phrase(
      "The token %1 needs a PIN: put it into a file with mode 0600, and name that with pin-source in the URI.",
      "Token %1 wymaga kodu PIN: zapisz go w pliku z prawami 0600 i wskaż ten plik przez pin-source w URI."
    ),
    Phrase(
      """
      The token %1 refused the PIN in %2. It is not tried again before the file changes, because a token locks \
      itself after a few wrong PINs, and this one has counted wrong ones: correct the file.
      """,
      """
      Token %1 odrzucił PIN z pliku %2. Do zmiany pliku nie będzie kolejnej próby, bo token blokuje się po kilku \
      błędnych kodach PIN, a ten naliczył już błędne: popraw plik.
      """
    ),
    Phrase(
      """
      The token %1 refused the PIN in %2. It is not tried again before the file changes, because a token locks \
      itself after a few wrong PINs: correct the file.
      """,
      """
      Token %1 odrzucił PIN z pliku %2. Do zmiany pliku nie będzie kolejnej próby, bo token blokuje się po kilku \
      błędnych kodach PIN: popraw plik.
      """
    ),
    Phrase(
      """
      One more wrong PIN locks the token %1, so no PIN was tried: log in with the token's own tool first.
      """,
      """
      Kolejny błędny PIN zablokuje token %1, dlatego nie próbowano żadnego: najpierw zaloguj się narzędziem tokena.
      """
    ),
    Phrase(
      """
      The token %1 is locked after too many wrong PINs: unlock it with its security officer's PIN.
      """,
      """
      Token %1 jest zablokowany po zbyt wielu błędnych kodach PIN: odblokuj go kodem PIN osoby odpowiedzialnej za \
      bezpieczeństwo tokena.
      """
    ),
  ]
}
