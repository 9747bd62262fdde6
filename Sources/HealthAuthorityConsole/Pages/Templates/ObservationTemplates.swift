/// The templates of the funnel, the exports and the remote configuration.
enum ObservationTemplates {
  static let funnel = """
    <h1 id="funnel-title">{{t.funnelTitle}}</h1>
    <p class="lead">{{lead}}</p>
    {{#isEmpty}}<p>{{t.funnelEmpty}}</p>{{/isEmpty}}
    {{^isEmpty}}
    \(LayoutTemplate.wide("funnel-title")){{{chart}}}</div>
    \(LayoutTemplate.wide("funnel-caption"))
    <table id="funnel"><caption id="funnel-caption">{{t.funnelCaption}}. {{t.utc}}</caption>
    <thead><tr><th scope="col">{{t.date}}</th><th scope="col">{{t.funnelIssued}}</th>
    <th scope="col">{{t.funnelRedeemed}}</th><th scope="col">{{t.funnelRedeemMinutes}}</th>
    <th scope="col">{{t.funnelUploads}}</th><th scope="col">{{t.funnelUploadMinutes}}</th>
    <th scope="col">{{t.funnelFileMinutes}}</th><th scope="col">{{t.funnelPublished}}</th></tr></thead>
    <tbody>
    {{#days}}
    <tr><th scope="row" class="time">{{day}}</th><td>{{issued}}</td><td>{{redeemed}}</td><td>{{redeemMinutes}}</td>\
    <td>{{uploads}}</td><td>{{uploadMinutes}}</td>\
    <td>{{fileMinutes}}</td><td>{{published}}</td></tr>
    {{/days}}
    </tbody></table></div>
    {{/isEmpty}}
    """

  static let exports = """
    <h1>{{t.exportsTitle}}</h1>
    {{#exports}}
    <section aria-label="{{name}}">
    <h2>{{name}}</h2>
    <p>{{next}}</p>
    {{#hasFiles}}
    \(LayoutTemplate.wide("files-{{number}}-caption"))
    <table class="files"><caption id="files-{{number}}-caption">{{t.exportsCaption}}. {{t.utc}}</caption>
    <thead><tr><th scope="col">{{t.exportsFile}}</th><th scope="col">{{t.exportsEnd}}</th>
    <th scope="col">{{t.exportsBytes}}</th><th scope="col">{{t.exportsKeys}}</th>
    <th scope="col">{{t.exportsPadding}}</th>
    <th scope="col">{{t.exportsSignature}}</th><th scope="col">SHA-256</th></tr></thead>
    <tbody>
    {{#files}}
    <tr><th scope="row">{{name}}</th><td class="time">{{end}}</td><td>{{bytes}}</td><td>{{keys}}</td>
    <td>{{padding}}</td>
    <td>{{signature}}</td><td><code>{{hash}}</code></td></tr>
    {{/files}}
    </tbody></table></div>
    <p class="help">{{t.exportsPaddingHelp}}</p>
    {{/hasFiles}}
    {{^hasFiles}}<p>{{t.exportsNone}}</p>{{/hasFiles}}
    </section>
    {{/exports}}
    """

  static let configuration = """
    <h1>{{t.configurationTitle}}</h1>
    <p class="lead">{{t.configurationLead}}</p>
    \(LayoutTemplate.notices)
    <h2>{{t.configurationOpen}}</h2>
    {{#hasOpen}}
    {{#open}}
    <section class="card" aria-label="{{by}}">
    <p><strong>{{by}}</strong></p>
    <p>{{reason}}</p>
    <h3>{{t.configurationChanges}}</h3>
    <pre class="changes">{{changes}}</pre>
    {{#isStale}}<p class="fault">{{t.configurationStale}}</p>{{/isStale}}
    {{#isOwn}}<p>{{t.configurationOwn}}</p>{{/isOwn}}
    {{#isRelated}}<p>{{t.configurationRelated}}</p>{{/isRelated}}
    <div class="actions">
    <a class="button" id="effect-{{id}}" href="/configuration/{{id}}">{{t.configurationPreviewTitle}}</a>
    {{#canApprove}}
    <form method="post" action="/configuration/{{id}}/approve">\(LayoutTemplate.token)
    <button id="approve-{{id}}" class="primary">{{t.configurationApprove}}</button></form>
    {{/canApprove}}
    <form method="post" action="/configuration/{{id}}/reject">\(LayoutTemplate.token)
    <button id="reject-{{id}}">{{t.configurationReject}}</button></form>
    </div>
    </section>
    {{/open}}
    {{/hasOpen}}
    {{^hasOpen}}<p>{{t.configurationNoOpen}}</p>{{/hasOpen}}
    <form method="post" action="/configuration/preview" class="card" aria-labelledby="edit-title">
    <h2 id="edit-title">{{current}}</h2>
    \(LayoutTemplate.token)
    <label for="document">{{t.configurationDocument}}</label>
    <textarea id="document" name="document" rows="24" spellcheck="false">{{document}}</textarea>
    <label for="reason">{{t.configurationReason}}</label>
    <textarea id="reason" name="reason" rows="2" required>{{reason}}</textarea>
    <button id="preview" class="primary">{{t.configurationPreview}}</button>
    </form>
    {{#hasHistory}}
    <h2>{{t.configurationHistory}}</h2>
    \(LayoutTemplate.wide("history-caption"))
    <table id="history"><caption id="history-caption">{{t.configurationHistoryCaption}}. {{t.utc}}</caption>
    <thead><tr><th scope="col">{{t.time}}</th><th scope="col">{{t.configurationReason}}</th>
    <th scope="col">{{t.configurationDecision}}</th></tr></thead>
    <tbody>
    {{#history}}<tr><td class="time">{{time}}</td><td>{{by}}<br>{{reason}}</td><td>{{decision}}</td></tr>{{/history}}
    </tbody></table></div>
    {{/hasHistory}}
    """

  static let preview = """
    <h1>{{t.configurationPreviewTitle}}</h1>
    <p class="lead">{{t.configurationPreviewLead}}</p>
    {{#effect}}
    \(LayoutTemplate.wide("effect-caption"))
    <table id="effect"><caption id="effect-caption">{{t.configurationEffectCaption}}</caption>
    <thead><tr><th scope="col">{{t.configurationCounted}}</th><th scope="col">{{t.configurationNone}}</th>
    <th scope="col">{{t.configurationLow}}</th><th scope="col">{{t.configurationHigh}}</th></tr></thead>
    <tbody>
    {{#rows}}<tr><th scope="row">{{name}}</th><td>{{none}}</td><td>{{low}}</td><td>{{high}}</td></tr>{{/rows}}
    </tbody></table></div>
    {{/effect}}
    {{#noEffect}}<p class="help">{{noEffect}}</p>{{/noEffect}}
    <h2>{{t.configurationChanges}}</h2>
    <pre class="changes" id="changes">{{changes}}</pre>
    {{#isProposed}}<p><a class="button" href="/configuration">{{t.back}}</a></p>{{/isProposed}}
    {{^isProposed}}
    <form method="post" action="/configuration/propose" class="card">
    \(LayoutTemplate.token)
    <input type="hidden" name="document" value="{{document}}">
    <label for="reason">{{t.configurationReason}}</label>
    <textarea id="reason" name="reason" rows="2" required>{{reason}}</textarea>
    <div class="actions"><button id="propose" class="primary">{{t.configurationPropose}}</button>
    <a class="button" href="/configuration">{{t.back}}</a></div>
    </form>
    {{/isProposed}}
    """
}
