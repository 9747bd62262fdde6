/// The templates of the sign-in, of accounts and of the audit log.
enum AccountTemplates {
  static let signIn = """
    <div class="narrow">
    <h1>{{t.signInTitle}}</h1>
    <p class="lead">{{t.signInLead}}</p>
    {{#fault}}<p class="fault" role="alert" id="fault">{{fault}}</p>{{/fault}}
    {{#notice}}<p class="notice" role="status" id="notice">{{notice}}</p>{{/notice}}
    <form method="post" action="/sign-in" class="card">
    <input type="hidden" name="next" value="{{next}}">
    <label for="name">{{t.signInName}}</label>
    <input id="name" name="name" type="text" autocomplete="username webauthn" autocapitalize="none" spellcheck="false"\
     required value="{{name}}">
    <label for="password">{{t.signInPassword}}</label>
    <input id="password" name="password" type="password" autocomplete="current-password" required>
    <label for="code">{{t.signInCode}}</label>
    <input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" required class="code">
    <button id="sign-in" class="primary">{{t.signInButton}}</button>
    </form>
    {{#passkey}}
    <form method="post" action="/sign-in/passkey" class="passkey" hidden data-passkey="get"\
     data-challenge="{{challenge}}" data-host="{{host}}">
    <p class="or">{{t.signInOr}}</p>
    <input type="hidden" name="next" value="{{next}}">
    <input type="hidden" name="id"><input type="hidden" name="client-data">
    <input type="hidden" name="authenticator-data"><input type="hidden" name="signature">
    <input type="hidden" name="user-handle">
    <button id="sign-in-passkey">{{t.signInPasskey}}</button>
    </form>
    <script src="/passkey.js" defer></script>
    {{/passkey}}
    <p class="help">{{t.signInHelp}}</p>
    </div>
    """

  static let start = """
    <div class="narrow">
    <h1>{{t.startTitle}}</h1>
    <p class="lead">{{lead}}</p>
    {{#fault}}<p class="fault" role="alert" id="fault">{{fault}}</p>{{/fault}}
    <section class="card" aria-labelledby="step-1">
    <h2 id="step-1">1. {{t.startStep1}}</h2>
    <p>{{t.startStep1Text}}</p>
    {{{picture}}}
    <p>{{t.startKey}}: <code id="key">{{key}}</code></p>
    </section>
    <form method="post" class="card" aria-labelledby="step-2">
    <h2 id="step-2">2. {{t.startStep2}}</h2>
    <input type="hidden" name="name" autocomplete="username" value="{{name}}">
    <label for="password">{{passwordLabel}}</label>
    <input id="password" name="password" type="password" autocomplete="new-password" required minlength="{{least}}"\
     aria-describedby="password-help">
    <p class="help" id="password-help">{{t.startPasswordHelp}}</p>
    <label for="code">{{t.signInCode}}</label>
    <input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" required class="code">
    <button id="finish" class="primary">{{t.startButton}}</button>
    </form>
    </div>
    """

  static let link = """
    <h1>{{title}}</h1>
    <p class="lead">{{t.linkLead}}</p>
    <p class="notice">{{t.shownOnce}}</p>
    <p class="secret"><a id="link" href="{{address}}">{{address}}</a></p>
    <p><a class="button" href="/accounts">{{t.back}}</a></p>
    """

  static let own = """
    <h1>{{t.ownTitle}}</h1>
    \(LayoutTemplate.notices)
    <section class="card" aria-labelledby="passkeys-title">
    <h2 id="passkeys-title">{{t.ownPasskeys}}</h2>
    <p>{{t.ownPasskeysLead}}</p>
    {{#hasPasskeys}}
    \(LayoutTemplate.wide("passkeys-caption"))
    <table id="passkeys"><caption id="passkeys-caption">{{t.ownPasskeysCaption}}</caption>
    <thead><tr><th scope="col">{{t.ownPasskeyName}}</th><th scope="col">{{t.ownPasskeyAdded}}</th>
    <th scope="col">{{t.actions}}</th></tr></thead>
    <tbody>
    {{#passkeys}}
    <tr><th scope="row">{{name}}</th><td class="time">{{added}}</td><td>
    <form method="post" action="/own/passkeys/remove">\(LayoutTemplate.token)
    <input type="hidden" name="id" value="{{id}}">
    <button class="quiet" aria-label="{{t.ownPasskeyRemove}}: {{name}}">{{t.ownPasskeyRemove}}</button></form>
    </td></tr>
    {{/passkeys}}
    </tbody></table></div>
    {{/hasPasskeys}}
    {{^hasPasskeys}}<p>{{t.ownPasskeyNone}}</p>{{/hasPasskeys}}
    {{#isOld}}<p id="old-session">{{t.ownPasskeyOld}}</p>{{/isOld}}
    {{#passkey}}
    <noscript><p>{{t.ownPasskeyScript}}</p></noscript>
    <form method="post" action="/own/passkeys" hidden data-passkey="create" data-challenge="{{challenge}}"\
     data-host="{{host}}" data-user="{{user}}" data-name="{{accountName}}" data-known="{{known}}"\
     data-console="{{t.console}}">
    \(LayoutTemplate.token)
    <input type="hidden" name="client-data"><input type="hidden" name="attestation">
    <label for="passkey-name">{{t.ownPasskeyName}}</label>
    <input id="passkey-name" name="passkey-name" type="text" required maxlength="64">
    <button id="add-passkey" class="primary">{{t.ownPasskeyAdd}}</button>
    </form>
    <script src="/passkey.js" defer></script>
    {{/passkey}}
    {{#otherHost}}<p class="help">{{otherHost}}</p>{{/otherHost}}
    </section>
    """

  static let accounts = """
    <h1>{{t.accountsTitle}}</h1>
    \(LayoutTemplate.notices)
    \(LayoutTemplate.wide("accounts-caption"))
    <table id="accounts"><caption id="accounts-caption">{{t.accountsCaption}}</caption>
    <thead><tr><th scope="col">{{t.name}}</th><th scope="col">{{t.accountRole}}</th><th scope="col">{{t.status}}</th>
    <th scope="col">{{t.actions}}</th></tr></thead>
    <tbody>
    {{#accounts}}
    <tr><th scope="row">{{name}}</th><td>{{role}}</td><td>{{state}}</td><td class="actions">
    {{#isEnabled}}
    <form method="post" action="/accounts/{{id}}/link">\(LayoutTemplate.token)
    <button class="quiet" aria-label="{{t.accountMakeLink}}: {{name}}">{{t.accountMakeLink}}</button></form>
    <form method="post" action="/accounts/{{id}}/disable">\(LayoutTemplate.token)
    <button class="quiet" aria-label="{{t.accountDisable}}: {{name}}">{{t.accountDisable}}</button></form>
    {{/isEnabled}}
    {{^isEnabled}}
    <form method="post" action="/accounts/{{id}}/enable">\(LayoutTemplate.token)
    <button class="quiet" aria-label="{{t.accountEnable}}: {{name}}">{{t.accountEnable}}</button></form>
    {{/isEnabled}}
    </td></tr>
    {{/accounts}}
    </tbody></table></div>
    <form method="post" action="/accounts" class="card" aria-labelledby="add-title">
    <h2 id="add-title">{{t.accountAddTitle}}</h2>
    \(LayoutTemplate.token)
    <label for="name">{{t.name}}</label>
    <input id="name" name="name" type="text" required maxlength="64" autocomplete="off" value="{{typedName}}">
    <fieldset><legend>{{t.accountRole}}</legend>
    {{#roles}}
    <label class="choice"><input type="radio" name="role" value="{{value}}" required> {{title}}</label>
    {{/roles}}
    </fieldset>
    <button id="add-account" class="primary">{{t.accountAddButton}}</button>
    </form>
    """

  static let audit = """
    <h1>{{t.auditTitle}}</h1>
    <p class="{{verdictClass}}" role="status" id="verdict">{{verdict}}</p>
    <p>{{t.auditHead}}: <code id="head">{{head}}</code></p>
    <p class="help">{{t.auditHeadHelp}}</p>
    <form method="post" action="/audit/export">\(LayoutTemplate.token)
    <button id="export">{{t.auditExport}}</button></form>
    \(LayoutTemplate.wide("audit-caption"))
    <table id="audit"><caption id="audit-caption">{{t.auditCaption}}. {{t.utc}}</caption>
    <thead><tr><th scope="col">#</th><th scope="col">{{t.time}}</th><th scope="col">{{t.auditActor}}</th>
    <th scope="col">{{t.auditAction}}</th><th scope="col">{{t.auditSubject}}</th><th scope="col">{{t.auditDetail}}</th>
    </tr></thead>
    <tbody>
    {{#entries}}
    <tr><td>{{sequence}}</td><td class="time">{{time}}</td><td>{{actor}}</td><td>{{action}}</td><td>{{subject}}</td>
    <td>{{detail}}</td></tr>
    {{/entries}}
    </tbody></table></div>
    {{#older}}<p><a class="button" href="/audit?before={{older}}">{{t.auditOlder}}</a></p>{{/older}}
    """
}
