// SPDX-License-Identifier: Apache-2.0
extension Texts {
  /// The texts of the funnel and the exports.
  static let observationPhrases: [TextKey: Phrase] = [
    .funnelTitle: Phrase("Funnel", "Lejek"),
    .funnelCard: Phrase(
      "Issued, redeemed, uploaded, published.",
      "Wydane, wykorzystane, przesłane, opublikowane."
    ),
    .funnelLead: Phrase(
      """
      Counts of all codes of a day. Counts from 1 to %1 are not shown, as they could tell about a person. \
      Uploaded keys are published with the next file: see Exports.
      """,
      """
      Liczby dla wszystkich kodów z dnia. Liczb od 1 do %1 nie pokazano, bo mogłyby mówić o jednej osobie. \
      Przesłane klucze są publikowane w następnym pliku: zobacz Eksporty.
      """
    ),
    .funnelCaption: Phrase("Counts by day", "Liczby według dni"),
    .funnelChart: Phrase(
      "Codes issued, codes redeemed and uploads by day",
      "Wydane kody, wykorzystane kody i udostępnienia kluczy według dni"
    ),
    .funnelIssued: Phrase("Codes issued", "Wydane kody"),
    .funnelRedeemed: Phrase("Codes redeemed", "Wykorzystane kody"),
    .funnelRedeemMinutes: Phrase(
      "Minutes until redeemed, mean",
      "Minuty do wykorzystania, średnio"
    ),
    .funnelUploads: Phrase("Uploads", "Udostępnienia kluczy"),
    .funnelUploadMinutes: Phrase(
      "Minutes until uploaded, median",
      "Minuty do udostępnienia, mediana"
    ),
    .funnelFileMinutes: Phrase(
      "Minutes from upload to file, median",
      "Minuty od udostępnienia do pliku, mediana"
    ),
    .funnelPublished: Phrase("Keys in files", "Klucze w plikach"),
    .funnelFew: Phrase("fewer than %1", "mniej niż %1"),
    .funnelEmpty: Phrase("There are no days to show yet.", "Nie ma jeszcze dni do pokazania."),
    .exportsTitle: Phrase("Exports", "Eksporty"),
    .exportsCard: Phrase(
      "Key files, their size, signature and schedule.",
      "Pliki kluczy, ich rozmiar, podpis i harmonogram."
    ),
    .exportsName: Phrase("Export %1, region %2", "Eksport %1, region %2"),
    .exportsFirst: Phrase("of the ProteGO Safe contract", "zgodny z ProteGO Safe"),
    .exportsNext: Phrase(
      "Next file at %1, every %2 minutes. A file has at least %3 keys, padding included.",
      "Następny plik o %1, co %2 min. Plik ma co najmniej %3 kluczy, łącznie z uzupełnieniem."
    ),
    .exportsCaption: Phrase("Files, newest first", "Pliki od najnowszego"),
    .exportsFile: Phrase("File", "Plik"),
    .exportsBytes: Phrase("Size in bytes", "Rozmiar w bajtach"),
    .exportsKeys: Phrase("Keys, padding included", "Klucze z uzupełnieniem"),
    .exportsPadding: Phrase("Padding among these, rounded", "W tym uzupełnienie, zaokrąglone"),
    .exportsPaddingHelp: Phrase(
      """
      Padding is rounded, and shown with the statistics of its day: some days later, if the day has enough uploads. \
      Otherwise it would tell about single persons.
      """,
      """
      Uzupełnienie jest zaokrąglone i widoczne razem ze statystyką dnia: kilka dni później, jeśli dzień ma \
      wystarczającą liczbę przesłań. Inaczej mówiłoby o pojedynczych osobach.
      """
    ),
    .exportsEnd: Phrase("End of its period", "Koniec okresu"),
    .exportsSignature: Phrase("Signature", "Podpis"),
    .exportsValid: Phrase("valid", "ważny"),
    .exportsInvalid: Phrase("not valid", "nieważny"),
    .exportsNone: Phrase("There is no file yet.", "Nie ma jeszcze plików."),
    .exportsWithdrawn: Phrase("withdrawn", "wycofany"),
  ]
}
