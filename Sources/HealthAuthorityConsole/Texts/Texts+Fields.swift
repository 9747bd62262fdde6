// SPDX-License-Identifier: Apache-2.0
extension Texts {
  /// The labels and explanations of the fields of a remote configuration.
  static let fieldPhrases: [TextKey: Phrase] = [
    .configurationAsFields: Phrase("Edit as fields", "Edytuj w polach"),
    .configurationAsJSON: Phrase(
      "Edit everything as JSON, also the rules of exposure windows",
      "Edytuj wszystko jako JSON, także reguły okien ekspozycji"
    ),
    .fieldsThresholds: Phrase("Risk levels by score", "Poziomy ryzyka według wyniku"),
    .fieldsThresholdsHelp: Phrase(
      """
      The score of an encounter is the product of the four values below, at most 4096 points. A score above the \
      last threshold is a high risk.
      """,
      """
      Wynik spotkania to iloczyn czterech wartości poniżej, najwyżej 4096 punktów. Wynik powyżej ostatniego progu \
      to wysokie ryzyko.
      """
    ),
    .fieldsMaxNone: Phrase("No risk up to", "Brak ryzyka do"),
    .fieldsMaxLow: Phrase("Low risk up to", "Niskie ryzyko do"),
    .fieldsMaxMedium: Phrase("Moderate risk up to", "Umiarkowane ryzyko do"),
    .fieldsMinimum: Phrase("Encounters count from", "Spotkania liczą się od"),
    .fieldsAttenuation: Phrase("Values by attenuation", "Wartości według tłumienia"),
    .fieldsAttenuationHelp: Phrase(
      "The mean attenuation of the signal: the lower, the nearer. 0 makes the whole score 0.",
      "Średnie tłumienie sygnału: im niższe, tym bliżej. 0 daje cały wynik 0."
    ),
    .fieldsDays: Phrase("Values by age", "Wartości według czasu"),
    .fieldsDaysHelp: Phrase(
      "The days since the encounter.", "Liczba dni od spotkania."
    ),
    .fieldsDay: Phrase("%1 days", "%1 dni"),
    .fieldsDuration: Phrase("Values by duration", "Wartości według długości"),
    .fieldsDurationHelp: Phrase(
      "The duration of the encounter in minutes, rounded up.",
      "Długość spotkania w minutach, zaokrąglona w górę."
    ),
    .fieldsTransmission: Phrase(
      "Values by transmission risk", "Wartości według ryzyka transmisji"
    ),
    .fieldsTransmissionHelp: Phrase(
      "The level that the key of the diagnosed person states, 8 unless the app sets another.",
      "Poziom podany w kluczu osoby zdiagnozowanej, 8, jeśli aplikacja nie ustawia innego."
    ),
    .fieldsLevel: Phrase("Level %1", "Poziom %1"),
    .fieldsRanges: Phrase("Ranges of attenuation", "Zakresy tłumienia"),
    .fieldsRangesHelp: Phrase(
      "Phones report the time in each range to the user's exposure history.",
      "Telefony podają czas w każdym zakresie w historii ekspozycji."
    ),
    .fieldsNear: Phrase("End of the near range", "Koniec zakresu bliskiego"),
    .fieldsMedium: Phrase("End of the medium range", "Koniec zakresu średniego"),
    .fieldsDownload: Phrase("Download of key files", "Pobieranie plików kluczy"),
    .fieldsDownloadHelp: Phrase(
      "A file that takes longer is tried again.",
      "Plik, który trwa dłużej, jest pobierany ponownie."
    ),
    .fieldsMobile: Phrase("Timeout in a mobile network", "Limit czasu w sieci komórkowej"),
    .fieldsWifi: Phrase("Timeout with Wi-Fi", "Limit czasu przez Wi-Fi"),
    .fieldsRetries: Phrase("Retries of a file", "Ponowienia dla pliku"),
    .fieldsPoints: Phrase("(number)", "(liczba)"),
    .fieldsBadNumber: Phrase(
      "%1: enter a whole number from %2 to %3.", "%1: wpisz liczbę całkowitą od %2 do %3."
    ),
  ]
}
