// Package weburl decides which addresses of the web may be asked for, and connects only to those.
//
// It has one rule: what is judged is what is dialled. A URL is read once, as browsers read it (the WHATWG URL
// Standard), and from then on only that reading is used: for the verdict, for the request line, for the Host header,
// for the look-up and for the socket. A spelling that is not understood is refused, never read as another host.
//
// # Three questions
//
//   - [Parse] and [URL.Resolve]: what does this text mean? They answer a [URL] in canonical form without fragment,
//     or an [*Error] of kind [Invalid], or one of kind [Disallowed] for another scheme or for credentials.
//   - [Policy.Check] and [Policy.CheckURL]: may it be asked for? They look at the host as it stands and look nothing
//     up, so that a refused host causes no DNS query. [Policy.Judge] answers the same as a JSON object.
//   - [Dialer.DialContext]: what does the name resolve to, and may that be connected to? It resolves once, judges
//     every answer, connects to a judged address only, and judges once more what the socket is connected to.
//
// A program that fetches uses all three: Check for the first URL, Resolve and CheckURL for each redirect, and the
// dialer inside its http.Transport. [URL.HTTP] gives net/http the canonical URL without a second reading.
//
//	d := &weburl.Dialer{Policy: policy}
//	t := &http.Transport{DialContext: d.DialContext, Proxy: nil}
//
// # The policy
//
// The zero [Policy] is the public web: every public host, no private, local or special-purpose address, no port
// that belongs to another protocol. A nil *Policy refuses everything. The rules in the order in which they answer:
//
//	shape        blank, not UTF-8, or with a NUL character                          invalid
//	length       more than 2,000 code points                                        invalid
//	parse        not an absolute URL                                                invalid
//	scheme       neither http nor https                                             disallowed
//	credentials  a user name or password                                            disallowed
//	host         an empty label, or a number that is no address                     invalid
//	blocked      a blocked host, or an address of a blocked network                 disallowed
//	allowed      not one of the allowed hosts, if there are any                     disallowed
//	metadata     a cloud metadata address                                           disallowed
//	private      localhost, *.localhost, internal, *.internal, a special address    disallowed
//	port         a bad port, or one that the operator did not allow                 disallowed
//	own          (dialer) a listener of this install                                disallowed
//	address      (dialer) a name that resolves to an address that is refused        disallowed
//
// Addresses are compared without zone and with IPv4-mapped spellings unmapped; an IPv4 address hidden in IPv6
// (mapped, NAT64, 6to4, ISATAP) is judged as the IPv4 address that it is. The ranges are those of the IANA
// special-purpose registries and the deprecated ones that machines still route: [Special] names them.
//
// # Private hosts on purpose
//
// AllowPrivateHosts lifts the private rule for everything, and is meant for work against localhost. A [Permit] lifts
// it for one host or network, with or without a port:
//
//   - a host name, or *.name for all names below it, lifts the rule for the name and for whatever private address it
//     resolves to;
//   - an address or a network in CIDR form lifts it for those addresses, by literal or through any name that
//     resolves into it; a name that is local by itself (localhost, *.internal) must be permitted by name.
//
// Nothing but the private rule is lifted: an allow list still has to name the host, a blocked network stays blocked.
// Cloud metadata addresses ([Metadata]) hand out credentials to whoever asks; neither AllowPrivateHosts nor a name
// nor a network that contains them lets them pass, only a permit of exactly that address. A listener of this install
// cannot be reached at all.
//
// # Behind an egress proxy
//
// The proxy resolves names, so they can be judged by pattern and literal only: call [Dialer.CheckURL] for every URL,
// and connect to the proxy itself with an ordinary net.Dialer, since its address is the operator's and not a page's.
//
// # Errors
//
// Every refusal is an [*Error], found with errors.As also behind net/http's wrapping. Its Reason is one sentence that
// names the rule and the canonical host, and its Permit is what an operator would have to permit. A look-up or
// connection that fails is not a refusal and is an ordinary error.
package weburl
