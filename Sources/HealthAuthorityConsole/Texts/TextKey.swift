// SPDX-License-Identifier: Apache-2.0
/// The names of the texts. Templates use them as `t.name`.
enum TextKey: String, CaseIterable, Sendable {
  // Common.
  case console, skip, menu, signedInAs, signOut, languageSwitch, home, homeLead, back, date,
    time, name, actions, status, none, unknown, zone, daysInUTC, shownOnce, roleIssuer,
    roleEpidemiologist,
    roleAdministrator, errorNotFoundTitle, errorNotFoundText, errorForbiddenTitle,
    errorForbiddenText, errorForgedTitle, errorForgedText, errorHostTitle, errorHostText,
    errorEndedTitle, errorEndedText, errorOldTitle, errorOldText,
    errorBusyTitle, errorBusyText, errorFormTitle, errorFormText, errorLargeTitle,
    errorLargeText, errorServerTitle, errorServerText, errorDatabaseTitle, errorDatabaseText,
    errorInternalTitle, errorInternalText, errorMissingTitle, errorMissingText,
    errorNotOfferedTitle, errorRefusedTitle, toStart, toSignIn
  // SignIn.
  case signInTitle, signInLead, signInName, signInPassword, signInCode, signInButton,
    signInPasskey, signInOr, signInWrong, signInPasskeyWrong, signInLocked, signInBusy,
    signInHelp,
    signedOutTitle, signedOutText, startTitle, startLead, startStep1, startStep1Text, startKey,
    startPicture, startStep2, startPassword, startPasswordHelp, startButton, startShort,
    startCodeWrong, startDoneTitle, startDoneText, startGoneTitle, startGoneText
  // Code.
  case issueTitle, issueCard, issueLead, issueTest, issueConfirmed, issueLikely, issueSymptoms,
    issuePhone, issuePhoneHelp, issueButton, issuedTitle, issuedLead, issuedExpires, issuedLink,
    issuedPicture, issuedSMS, issuedSMSText, issuedSMSOpen, issuedHandle, issuedHandleHelp,
    issuedNext, issuedAgainTitle, issuedAgainText, badDate, batchTitle, batchCard, batchLead,
    batchReference, batchFile, batchText, batchShow, batchDownload, batchResult,
    batchColumnReference, batchColumnCode, batchColumnExpires, batchColumnNumber,
    batchColumnFault, batchSummary, batchEmpty, batchTooMany, batchBadLine, batchBadColumns,
    batchBadTest, batchBadDay, batchIssuedBefore, statusTitle, statusCard, statusLead,
    statusButton, statusUsed, statusUnused, statusOver, statusExpire, statusExpired, statusBad
  // Refusal.
  case refusalDate, refusalNoDate, refusalPhone, refusalSMSQueue, refusalSMS, refusalTest,
    refusalMaintenance, refusalKey, refusalQuota, refusalBusy, refusalOther
  // Account.
  case accountsTitle, accountsCard, accountsCaption, accountRole, accountActive, accountNew,
    accountDisabled, accountMakeLink, accountDisable, accountEnable, accountAddTitle,
    accountAddButton, accountBadName, accountLast, linkTitle, linkLead, linkOwn, ownTitle, ownCard,
    ownPasskeys, ownPasskeysLead, ownPasskeysCaption, ownPasskeyNone, ownPasskeyAdded,
    ownPasskeyRemove, ownPasskeyName, ownPasskeyAdd, ownPasskeyWrong, ownPasskeyScript,
    ownPasskeyHost, ownPasskeyOld, passkeyUnverified, passkeyOther, passkeyMalformed, passkeyKnown,
    auditTitle, auditCard, auditCaption, auditActor, auditCommandLine, auditAction, auditSubject,
    auditDetail, auditIntact,
    auditBroken, auditHead, auditHeadHelp, auditExport, auditOlder
  // Observation.
  case funnelTitle, funnelCard, funnelLead, funnelCaption, funnelChart, funnelIssued,
    funnelRedeemed, funnelRedeemMinutes, funnelUploads, funnelUploadMinutes, funnelFileMinutes,
    funnelPublished,
    funnelFew, funnelEmpty,
    exportsTitle,
    exportsCard, exportsName, exportsFirst, exportsNext, exportsCaption, exportsFile,
    exportsBytes, exportsKeys, exportsPadding, exportsPaddingHelp,
    exportsEnd, exportsSignature, exportsValid, exportsInvalid,
    exportsNone,
    exportsWithdrawn
  // Configuration.
  case configurationTitle, configurationCard, configurationLead, configurationCurrent,
    configurationDocument, configurationReason, configurationPreview, configurationPropose,
    configurationPreviewTitle, configurationPreviewLead, configurationEffectCaption,
    configurationCounted, configurationWindows, configurationDays, configurationNone,
    configurationLow,
    configurationHigh, configurationBefore, configurationAfter, configurationChanges,
    configurationSame, configurationInvalid, configurationNoReason, configurationOpen,
    configurationNoOpen, configurationBy, configurationApprove, configurationReject,
    configurationVersion, configurationOwn, configurationRelated, configurationStale,
    configurationHistory,
    configurationHistoryCaption,
    configurationDecision, configurationApproved, configurationRejected, configurationProposed,
    configurationDone
  // Administration.
  case phonesTitle, phonesCard, phonesLead, phonesPause, phonesRunning, phonesPaused,
    phonesPausedUntil, phonesPauseHelp, phonesPauseHours, phonesPauseButton, phonesResumeButton,
    phonesWithdraw, phonesWithdrawHelp, phonesChooseFile, phonesWithdrawButton, phonesRestore,
    phonesWithdrawnCaption, phonesNotListed, phonesBadHours, phonesVersion, keysTitle, keysCard,
    keysSigning, keysOfVerification, keysOfKeys, keysSigningCaption, keysFrom, keysUntil,
    keysRotate, keysRotateHelp, keysAPI, keysAPICaption, keysKind, keysKindDevice,
    keysKindAdmin, keysKindStats, keysRevoke, keysRevoked, keysActive, keysAddAPI, keysHolder,
    keysAdd,
    keysNewAPI, keysAuthorities, keysAuthoritiesCaption, keysAuthorityIssuer,
    keysAuthorityAudience, keysAuthorityKeyID, keysAuthorityPEM, keysAddAuthority, keysApps,
    keysRemove, keysWithdraw, keysWithdrawHelp, keysWithdrawn, keysInSettings, keysIgnored,
    keysAppsCaption,
    keysApp, keysRegions, keysAuthoritiesOfApp, keysAddApp
  // Changes.
  case changesTitle, changesCard, changesLead, changesOpen, changesNone,
    changesHistoryCaption, changesWaiting, configurationWaiting, changeColumn, changeTitle,
    changeLead, changeRequest, changeCancel, changeApprove, changeNow, changeNowHelp,
    changeNotAlone, changePeople, changeNobody, changeNoReason, changeTooMany,
    changeRequested, changeDone, changeRejected, changeBy, changeOwn, changeConcernsYou,
    changeAlone, changeDecided, changeExpired, changeExpiredShort, changeAuthorDisabled, changeGone,
    changeWithdrawnShort, changeApprovedUnknown, changeAloneUnknown, changeOutcomeUnknown,
    changeEffectChanged, changeAltered, changeDuplicate, changeBadText, changeBadKey,
    changeOtherKey,
    changeOtherAudience,
    changeFor,
    changeRotate, changeAddAPIKey, changeRevokeAPIKey, changeAddAuthority,
    changeRemoveAuthority, changeWithdrawKey, changeAddApp, changeRemoveApp, changePause,
    changePauseOpen, changeResume, changeWithdrawFile, changeRestoreFile, changeAddAccount,
    changeMakeLink, changeDisable, changeEnable, changeNotPaused, changePausedUntil,
    changePausedOpen, changeUnknownFile, changeWithdrawn, changeNotWithdrawn, changeRevoked,
    changeBadKeyName, changeAccountDisabled, changeAccountEnabled, accountLooksAlike,
    accountTooMany, effectPause, effectPauseOpen, effectResume, effectWithdraw, effectRestore,
    effectFile, effectExpiredFile, effectRotateFiles, effectRotateTokens, effectKeyDevice,
    effectKeyAdmin, effectKeyStats, effectSecret, effectRevoke, effectLiveCodes,
    effectFewLiveCodes, effectUploads, effectAddAuthority,
    effectFingerprint, effectAudience,
    effectRemoveAuthority, effectWithdrawKey, effectAddApp, effectReplaceApp, effectRemoveApp,
    effectAddAccount, effectLink, effectDisable, effectEnable
}
