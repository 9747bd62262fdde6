// SPDX-License-Identifier: Apache-2.0
extension ClassText {
  /// The Polish texts. They name no gender of a reader.
  static let polish: [ClassText: String] =
    general
    .merging(pupil) { $1 }.merging(teacher) { $1 }.merging(states) { $1 }
    .merging(messages) { $1 }.merging(sheet) { $1 }

  private static let general: [ClassText: String] = [
    .languageCode: "pl",
    .className: "Lekcja Firebreak",
    .skip: "Przejdź do treści",
    .offline:
      "Utracono połączenie. Twoje miejsce jest zachowane: strona połączy się ponownie sama.",
    .dayAndTime: "Dzień {day}, {time}",
    .phone: "Telefon {number}",
    .backHome: "Przejdź do strony początkowej",
    .never: "nigdy",
    .joinTitle: "Dołącz do lekcji",
    .joinLead: """
    Dostaniesz telefon w symulowanym mieście. Ma on prawdziwy mechanizm powiadomień o kontakcie: \
    wysyła i odbiera losowe liczby i informuje, jeśli w pobliżu była osoba zakażona.
    """,
    .joinPrivacy: """
    Nikt nie pyta o nazwisko. Nic z tej strony nie opuszcza klasy, a Bluetooth Twojego własnego \
    telefonu nie jest używany.
    """,
    .joinButton: "Weź telefon",
    .fullTitle: "Ta lekcja jest pełna",
    .fullText: """
    Wszystkie telefony są zajęte ({max}). Spójrz na telefon sąsiada albo poproś nauczyciela \
    o zwolnienie jednego.
    """,
    .tryAgain: "Spróbuj ponownie",
    .endedTitle: "Twojego telefonu nie ma już na tej lekcji",
    .endedText:
      "Został oddany albo lekcja zaczęła się od nowa. Dołącz ponownie, aby dostać telefon.",
    .qrTitle: "Zeskanuj, aby dołączyć",
    .qrText:
      "Zeskanuj kod aparatem albo otwórz ten adres w przeglądarce w tej samej sieci Wi-Fi:",
    .qrPicture: "Kod QR z adresem {address}",
    .otherAddresses: "Inne adresy tego komputera:",
  ]

  private static let pupil: [ClassText: String] = [
    .noticeHeading: "Powiadomienia",
    .noNotice: "Telefon nie ma dla Ciebie powiadomienia.",
    .noticeLow:
      "Przez krótki czas w pobliżu była osoba, której test okazał się później dodatni. Ryzyko jest niskie.",
    .noticeMedium: """
    W pobliżu była osoba, której test okazał się później dodatni. Ryzyko jest umiarkowane. \
    Poproś o test.
    """,
    .noticeHigh: """
    Przez dłuższy czas blisko była osoba, której test okazał się później dodatni. Ryzyko jest \
    wysokie. Poproś o test i zostań w domu.
    """,
    .noticeAfterTest: """
    W pobliżu była osoba, której test okazał się później dodatni. Twój test jest już dodatni: zostań \
    w domu. Kolejny test nie jest potrzebny.
    """,
    .noticePrivacy: "Telefon zna dzień spotkania, ale nie miejsce ani osobę.",
    .bodyHeading: "Twoje zdrowie",
    .feelWell: "Czujesz się dobrze. Nie da się wyczuć, czy doszło do zakażenia.",
    .feelIll: "Czujesz się źle. Poproś nauczyciela o test.",
    .feelIllTested: "Czujesz się źle. Zostań w domu.",
    .feelRecovered: "Choroba już minęła.",
    .testNegative: "Wiadomość z sanepidu: Twój test jest ujemny.",
    .testPositive: """
    Wiadomość z sanepidu: Twój test jest dodatni. Od teraz zostajesz w domu. Tym kodem PIN możesz \
    ostrzec osoby, które były w pobliżu:
    """,
    .pinValid: "Ważny do: {time}.",
    .shareHeading: "Ostrzeż innych",
    .shareText: """
    Po dodatnim teście dostajesz PIN. Wpisanie go udostępnia losowe klucze Twojego telefonu \
    z ostatnich dni i nic więcej. Inne telefony porównują je z tym, co odebrały.
    """,
    .pinLabel: "PIN z sanepidu",
    .pinHint:
      "Od sześciu do dziesięciu liter i cyfr. Wpisanie go oznacza zgodę na udostępnienie kluczy.",
    .shareButton: "Udostępnij klucze",
    .shareDone:
      "Twoje klucze są udostępnione. Osoby z Twojego otoczenia dostaną ostrzeżenie i nie dowiedzą się, od kogo.",
    .shareNothing: """
    Telefon nie ma jeszcze zakończonego klucza. Wpisz PIN ponownie jutro: dzisiejszy klucz jest \
    jeszcze używany.
    """,
    .shareRefused: "Ten PIN jest nieważny albo został już użyty. Poproś nauczyciela o nowy test.",
    .shareInvalid: "PIN ma od sześciu do dziesięciu liter i cyfr. Sprawdź wpisany tekst.",
    .shareLocked:
      "Za dużo błędnych kodów PIN. Poczekaj godzinę na zegarze lekcji i spróbuj ponownie.",
    .shareFailed: "Wysyłanie nie powiodło się: {reason}",
    .engineHeading: "Co wie Twój telefon",
    .powerState: "Zasilanie",
    .on: "Włączony",
    .off: "Wyłączony: niczego nie wysyła ani nie odbiera",
    .received: "Skanowania, w których odebrał inne telefony",
    .exposures: "Znalezione narażenia",
    .lastCheck: "Ostatnie sprawdzenie opublikowanych kluczy",
    .checkFailed: "Ostatnie sprawdzenie nie powiodło się. Telefon spróbuje ponownie.",
    .turnOff: "Wyłącz telefon",
    .turnOn: "Włącz telefon",
    .checkNow: "Sprawdź klucze teraz",
    .leaveHeading: "Opuść lekcję",
    .leaveText: "Telefon wraca do nauczyciela. Nie ma pewności, że dostaniesz potem ten sam.",
    .leaveButton: "Oddaj telefon",
  ]

  private static let teacher: [ClassText: String] = [
    .teacherTitle: "Nauczyciel",
    .clockHeading: "Zegar",
    .running: "Czas płynie…",
    .nextHour: "Następna godzina",
    .nextMorning: "Następny ranek",
    .startClock: "Uruchom zegar",
    .stopClock: "Zatrzymaj zegar",
    .infectOne: "Zakaź jedną osobę",
    .sheetLink: "Arkusz do druku",
    .nextStep: "Następny krok:",
    .stepJoin: "klasa dołącza kodem poniżej. Poczekaj, aż wszyscy będą mieć telefon.",
    .stepInfect: "zakaź jedną osobę. Tylko Ty widzisz, która to osoba.",
    .stepWait: "niech płynie czas. Objawy zaczynają się 48 godzin po zakażeniu.",
    .stepTest: "zbadaj osoby, które czują się źle. Telefony: {numbers}.",
    .stepShare: "osoby z dodatnim testem wpisują PIN na swoich stronach. Telefony: {numbers}.",
    .stepPublish: """
    niech płyną godziny. Klucze zostają opublikowane, a każdy telefon sprawdza je co cztery \
    godziny albo na polecenie.
    """,
    .stepDiscuss: """
    porównajcie osoby powiadomione i pominięte. Uruchom zegar dalej albo zakończ arkuszem do \
    druku.
    """,
    .joinHeading: "Dołączanie",
    .joined: "Zajęte telefony: {count} z {max}. Otwarte strony: {connected}.",
    .largeCode: "Pokaż kod na całej stronie",
    .summaryHeading: "Ognisko",
    .infectedCount: "Zakażone do tej pory",
    .illCount: "Chore teraz",
    .diagnosedCount: "Z dodatnim testem",
    .exposedCount:
      "Narażone: co najmniej {minutes} minut w odległości do {metres} metrów od osoby zakaźnej",
    .notifiedCount: "Narażone i powiadomione",
    .missedCount: "Narażone i niepowiadomione",
    .falseCount: "Powiadomione bez narażenia",
    .missedHeading: "Pominięte osoby i powody",
    .noMissed: "W tej chwili nikt nie jest pominięty.",
    .reason: "Powód",
    .people: "Osoby",
    .mapHeading: "Mapa",
    .mapPicture: "Mapa miasta. Tabela telefonów poniżej ma tę samą treść.",
    .mapText:
      "Osoby w tym samym miejscu mogą się spotkać. W domu po dodatnim teście albo poza lekcją: {count}.",
    .legendWell: "koło: zdrowa lub po chorobie",
    .legendInfected: "trójkąt: zakażona lub zakaźna",
    .legendIll: "kwadrat: chora",
    .legendNotified: "pierścień: powiadomiona",
    .curveHeading: "Przebieg",
    .curvePicture: """
    Przebieg ogniska. Na końcu: zakażone do tej pory {infected}, z dodatnim testem {diagnosed}, \
    powiadomione {notified}.
    """,
    .curveText: "Liczba osób według dni.",
    .curveInfected: "zakażone do tej pory (linia ciągła)",
    .curveDiagnosed: "z dodatnim testem (kreski)",
    .curveNotified: "powiadomione (kropki)",
    .phonesHeading: "Telefony",
    .noPhones: "Nikt jeszcze nie dołączył.",
    .columnPhone: "Telefon",
    .columnHealth: "Zdrowie",
    .columnNotice: "Powiadomienie",
    .columnState: "Stan",
    .columnTest: "Testy",
    .testButton: "Test",
    .testAgain: "Ponów test",
    .freeButton: "Zwolnij",
    .buttonOfPhone: "{button}: telefon {number}",
  ]

  private static let states: [ClassText: String] = [
    .stateOff: "wyłączony",
    .stateFree: "oddany",
    .stateClosed: "strona zamknięta",
    .stateOpen: "włączony",
    .healthWell: "zdrowa",
    .healthInfected: "zakażona",
    .healthInfectious: "zakaźna",
    .healthIll: "chora",
    .healthRecovered: "po chorobie",
    .outcomeNotExposed: "bez narażenia",
    .outcomeNotified: "powiadomiona",
    .outcomeFalse: "powiadomiona bez narażenia: {reason}",
    .outcomeMissed: "pominięta: {reason}",
    .testedNegative: "ujemny",
    .testedPositive: "dodatni, PIN niewpisany",
    .testedShared: "dodatni, klucze udostępnione",
    .reasonPhoneOff: "jeden z dwóch telefonów był wyłączony",
    .reasonNotDiagnosed: "osoba zakaźna nie została zbadana",
    .reasonPINNotEntered: "osoba z dodatnim testem nie wpisała kodu PIN",
    .reasonKeyInUse:
      "spotkanie było w dniu wysłania kluczy: klucz tego dnia nie jest udostępniany",
    .reasonNotPublished: "klucze nie są jeszcze opublikowane",
    .reasonNotChecked: "telefon nie pobrał jeszcze kluczy",
    .reasonBelowThreshold: "za krótko lub za daleko według konfiguracji ryzyka",
    .reasonBeforeInfectious: "spotkanie było, zanim osoba z dodatnim testem zaczęła zakażać",
    .reasonOverestimated:
      "spotkanie było za krótkie lub zbyt odległe, a telefony zmierzyły je jako dłuższe lub bliższe",
  ]

  private static let messages: [ClassText: String] = [
    .newsInfection: "Osoba z telefonem {number} jest zakażona i o tym nie wie.",
    .newsNegative: "Test osoby z telefonem {number} jest ujemny.",
    .newsPositive:
      "Test osoby z telefonem {number} jest dodatni. PIN jest na stronie tego telefonu.",
    .newsUploaded: "Telefon {number} udostępnił klucze.",
    .newsUploadFailed:
      "Telefon {number} nie mógł udostępnić kluczy; powód jest na jego stronie.",
    .newsFreed: "Telefon {number} jest wolny. Dostanie go następna przeglądarka.",
    .refusedLesson: "To ostatni dzień lekcji. Wydrukuj arkusz.",
    .refusedPhone: "Nie ma takiego telefonu.",
    .refusedOff: "Telefon jest wyłączony: najpierw go włącz.",
    .refusedInfected: "Wszyscy są już zakażeni albo nikt nie dołączył.",
    .refusedFailed: "To się nie udało: {reason}",
    .wrongHostTitle: "Niewłaściwy adres",
    .wrongHostText: "Ta lekcja odpowiada tylko pod tymi adresami:",
    .otherSiteTitle: "Niedozwolone",
    .otherSiteText: "Zapytanie przyszło z innej strony. Otwórz własną stronę tej lekcji.",
    .noTeacherTitle: "Dla nauczyciela",
    .noTeacherText: """
    Otwórz adres nauczyciela, który został wypisany przy uruchomieniu lekcji: zawiera on jej \
    sekret.
    """,
    .notFoundTitle: "Nie znaleziono",
    .notFoundText: "Nie ma takiej strony. Sprawdź adres.",
    .tooLargeTitle: "Za dużo danych",
    .tooLargeText: "Formularz jest za duży. Wróć i spróbuj ponownie.",
  ]

  private static let sheet: [ClassText: String] = [
    .sheetTitle: "Ognisko w naszej klasie",
    .sheetLead: """
    Telefony: {phones}. Symulowane dni: {days}. Każdy telefon używał prawdziwego mechanizmu \
    powiadomień o kontakcie, a serwery sanepidu też były prawdziwe.
    """,
    .sheetNumbers: "Liczby",
    .sheetWhy: "Dlaczego osoby zostały pominięte",
    .sheetExposed: "Osoby narażone",
    .sheetNobody: "Nikt nie był narażony.",
    .sheetQuestions: "Pytania",
    .question1: "Jaki był najczęstszy powód braku powiadomienia? Co by go usunęło?",
    .question2:
      "Kto się dowiedział, że dana osoba była zakażona: inne telefony, serwery, nauczyciel?",
    .question3: "Dlaczego dzisiejszy klucz nie jest udostępniany i ile to kosztuje?",
    .question4: "Niektóre osoby dostały powiadomienie bez narażenia. Czy to błąd aplikacji?",
    .question5: "Jak wyglądałby przebieg, gdyby każda powiadomiona osoba została w domu?",
    .print: "Drukuj",
    .backToTeacher: "Wróć na stronę nauczyciela",
  ]
}
