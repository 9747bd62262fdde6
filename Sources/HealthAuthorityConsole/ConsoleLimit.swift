// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP

/// The limits of the console.
enum ConsoleLimit {
  /// The secret of the database, in bytes.
  static let secretBytes = 32
  /// The length of an account's name, in characters.
  static let nameCharacters = 2...64
  /// Accounts.
  static let accountsMax = 1_000
  /// Accounts of one list.
  static let importedAccountsMax = 50
  /// The length of a password, in characters.
  static let passwordCharactersMin = 12
  /// The length of a password, in bytes of UTF-8.
  static let passwordBytesMax = 512
  /// The base-two logarithm of scrypt's cost: 32 MiB of memory with the block size 8.
  static let scryptCostLog = 15
  /// Passwords that are checked at the same time. One, so that a processor is left for the pages.
  static let passwordChecksMax = 1
  /// Sign-ins that wait for the check of their password. Further ones are refused at once.
  static let waitingSignInsMax = 16
  /// The `Retry-After` of a sign-in that is refused because too many others wait, in seconds.
  static let signInRetrySeconds = 5
  /// Failed sign-ins with a password after which a name is locked.
  static let signInFailuresMax = 5
  /// Seconds for which failed sign-ins count.
  static let signInWindowSeconds = 900
  /// Failed sign-ins of one address in that time.
  static let addressFailuresMax = 20
  /// Sign-ins of addresses with these failures that wait until a few others are checked.
  static let waitingExcessSignInsMax = 4 * QuietLimit.excessAttemptsMax
  /// Networks of one account whose refused sign-ins are recorded separately in that time.
  static let refusedNetworksMax = 8
  /// Accounts and networks whose refused sign-ins are recorded separately in that time. Each has at most two entries.
  static let refusalsMax = 256
  /// Steps of 30 seconds by which the clock of a code generator may differ.
  static let codeStepsOff = 1
  /// Seconds without a request after which a session ends.
  static let sessionIdleSeconds: Int64 = 1_800
  /// Seconds after which a session ends in any case.
  static let sessionSeconds: Int64 = 36_000
  /// Seconds for which the database keeps a session that has ended, so that a process whose clock is ahead by less
  /// ends none of those that the others accept.
  static let endedSessionSeconds: Int64 = 36_000
  /// Sessions of an account; the least recently used one ends when another starts.
  static let sessionsMax = 20
  /// Seconds after the sign-in in which a passkey can be added and phones, keys and accounts administered, so that a
  /// thief of a session cannot keep the account or harm the system.
  static let freshSessionSeconds: Int64 = 600
  /// Seconds after which the use of a session is stored again.
  static let sessionTouchSeconds: Int64 = 60
  /// Days for which a link for a new password works, unless the settings have another number.
  static let linkDays = 1
  /// Connections of a console to PostgreSQL.
  static let databaseConnections = 4
  /// Seconds for which a passkey's challenge works.
  static let challengeSeconds: Int64 = 600
  /// Used challenges that are remembered.
  static let usedChallengesMax = 10_000
  /// Passkeys of an account.
  static let passkeysMax = 10
  /// The length of a passkey's credential id, in bytes.
  static let credentialBytesMax = 1_023
  /// The nesting of CBOR values.
  static let cborDepthMax = 4
  /// Items in all CBOR arrays and maps of a message.
  static let cborItemsMax = 64
  /// The body of a form, in bytes.
  static let formBytesMax = 256 << 10
  /// Fields of a form.
  static let formFieldsMax = 64
  /// The age in days up to which the verification server accepts a first day of symptoms.
  static let symptomAgeDaysMax = 28
  /// Codes of one batch.
  static let batchCodesMax = 500
  /// Seconds for which the console keeps the number of a code: 28 days.
  static let issuedCodeSeconds: Int64 = 2_419_200
  /// The part of the quota of codes from which the start page warns, in percent.
  static let quotaWarningPercent = 80
  /// Seconds before the end of the last signing key from which the start page warns: 14 days.
  static let keyWarningSeconds: Int64 = 1_209_600
  /// Issued codes on a page.
  static let issuedCodesOnPage = 25
  /// The length of a reference in a list, in characters.
  static let referenceCharactersMax = 64
  /// Faults of a list on the page.
  static let listFaultsOnPage = 100
  /// Lists whose codes are sent by SMS, in memory.
  static let smsListsMax = 20
  /// Seconds for which such a list is kept after its last code.
  static let smsListSeconds: TimeInterval = 3_600
  /// Failures of the SMS gateway one after the other, after which a list is interrupted.
  static let smsFailuresInRowMax = 3
  /// Seconds after which the page of such a list is loaded again.
  static let smsListRefreshSeconds = 5
  /// Codes of one request to the verification server.
  static let batchRequestCodesMax = 10
  /// The response of a server, in bytes.
  static let responseBytesMax = 1 << 20
  /// Seconds to wait for the verification server.
  static let responseSecondsMax: Int64 = 20
  /// Seconds that a page waits for the uploads of a day in the effect of a change.
  static let shownUploadsSecondsMax = 2
  /// Days of the funnel.
  static let funnelDaysMax = 14
  /// Counts below this are not shown.
  static let shownCountMin = 10
  /// Seconds between two checks of the database.
  static let checkPeriodSeconds: TimeInterval = 300
  /// Seconds between two lines with the head of the audit log.
  static let auditReportSeconds: TimeInterval = 86_400
  /// The interval at which new entries of the audit log are copied to their destination, in seconds.
  static let auditForwardSeconds: TimeInterval = 5
  /// Audit entries on a page.
  static let auditEntriesOnPage = 50
  /// Audit entries that are read at once.
  static let auditEntriesAtOnce = 1_000
  /// An upper bound of the length of an entry as JSON, in bytes: five fields, of which each byte may be escaped.
  static let auditLineBytesMax = 64 << 10
  /// The length of a field of an audit entry, in bytes.
  static let auditFieldBytesMax = 1_024
  /// The remote configuration, in bytes.
  static let configurationBytesMax = 64 << 10
  /// Proposals without a decision.
  static let openProposalsMax = 20
  /// Requests for changes of phones, keys and accounts without a decision.
  static let openChangesMax = 50
  /// Those of the accounts of one circle.
  static let circleOpenChangesMax = 10
  /// A request for a change, in bytes of JSON.
  static let changeBytesMax = 16 << 10
  /// A name or another value in a request for a change, in bytes.
  static let changeValueBytesMax = 1_024
  /// The reason for a change, in bytes.
  static let reasonBytesMax = 2_000
  /// Seconds after which a request for a change expires.
  static let changeSeconds: Int64 = 604_800
  /// The length of the reason for a change, in characters.
  static let reasonCharactersMax = 500
  /// The length of the name of an API key, in characters.
  static let apiKeyNameCharactersMax = 64
  /// The hours of a pause that one person may start alone.
  static let emergencyPauseHoursMax = 24
  /// Seconds in which the pauses that a person started alone count together, so that they cannot be repeated.
  static let emergencyPauseWindowSeconds: Int64 = 172_800
  /// The same, unless another person has approved a change since.
  static let emergencyPausePeriodSeconds: Int64 = 604_800
  /// The length of a pause, in hours.
  static let pauseHours = 1...720
  /// Versions of the remote configuration, and decided changes, on a page.
  static let versionsOnPage = 50
}
