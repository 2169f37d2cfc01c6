package cmd

import (
	"fmt"
	"maps"
	"reflect"
	"strconv"

	"pgregory.net/rapid"
)

// groupModel is what is known of a group.
type groupModel struct {
	name    string
	knows   map[string]int            // the generation that each member knows
	owners  map[int]map[string]string // by generation: partition -> member
	handed  map[string]int64          // by partition: behind the last record that a poll returned
	state   map[string]string         // what describe said last: owner and committed offset
	present int                       // the group's generation
	lost    map[string]bool           // members that expired, and were not told
}

func newGroupModel(name string) *groupModel {
	return &groupModel{
		name: name, knows: map[string]int{}, owners: map[int]map[string]string{},
		handed: map[string]int64{}, state: map[string]string{}, lost: map[string]bool{},
	}
}

func (m *model) group() *groupModel { return pick(m.modelLab, "group", m.groups...) }
func (m *model) member() string     { return pick(m.modelLab, "member", "a", "b", "c") }

// join makes somebody a member, or a member again.
func (m *model) join() {
	g, member := m.group(), m.member()
	for _, r := range m.groupCommand(g, exitOK, "join", g.name, "--member", member, "-t", "t") {
		g.knows[member] = r.Generation
		delete(g.lost, member)
	}
}

func (m *model) leave() {
	g, member := m.group(), m.member()
	m.groupCommand(g, g.codeOf(member), "leave", g.name, "--member", member)
	delete(g.knows, member)
}

// codeOf is how a command of a member ends: it must be one.
func (g *groupModel) codeOf(member string) int {
	if _, ok := g.knows[member]; ok {
		return exitOK
	}
	return exitNotFound
}

// groupCommand runs a command on a group, which must end with the given code and leave the
// other groups alone.
func (m *model) groupCommand(g *groupModel, want int, args ...string) []row {
	rows, code := m.sh("", append([]string{"group"}, args...)...)
	if code != want {
		m.fail("exit code %d, want %d", code, want)
	}
	for _, other := range m.groups {
		if other != g && !reflect.DeepEqual(other.state, m.describe(other)) {
			m.fail("group %s changed with it: %v, was %v", other.name, m.describe(other), other.state)
		}
	}
	return rows
}

// poll hands records to a member, whichever generation it knows of.
func (m *model) poll() {
	g, member := m.group(), m.member()
	args := []string{"group", "poll", g.name, "--member", member}
	stale := m.chance("stale")
	if stale {
		args = append(args, "--stale")
	}
	if m.chance("commit") {
		args = append(args, "--commit")
	}
	rows, code := m.sh("", args...)
	if g.codeOf(member) != exitOK {
		if code == exitOK && !(stale && g.lost[member]) {
			m.fail("%s is no member", member)
		}
		return
	}
	if !stale && code != exitFenced {
		g.knows[member] = m.generation(g)
	}
	m.hand(g, rows)
}

// generation is what the coordinator says now.
func (m *model) generation(g *groupModel) int {
	for _, r := range m.read("group", "describe", g.name, "--members") {
		return r.Generation
	}
	return g.present
}

// hand takes what a poll returned: runs of visible records without a gap, none of which
// begins behind the first that nobody was handed yet. A log start offset that somebody
// saw stays passed over, also under a leader that does not know it.
func (m *model) hand(g *groupModel, rows []row) {
	last := map[string]int64{}
	for _, r := range rows {
		p := m.find(r.Topic, r.Partition)
		if p.visible[r.Offset] != *r.Value {
			m.fail("group %s is handed %s at offset %d of %s: visible is %q", g.name, *r.Value, r.Offset, p, p.visible[r.Offset])
		}
		before, ok := last[p.String()]
		if !ok {
			before = max(g.handed[p.String()], p.start)
		}
		if ok && r.Offset <= before-1 || p.between(before, r.Offset) {
			m.fail("group %s is handed offset %d of %s, and was at %d", g.name, r.Offset, p, before)
		}
		last[p.String()] = r.Offset + 1
		g.handed[p.String()] = max(g.handed[p.String()], r.Offset+1)
	}
}

// between tells whether a record that is there lies between two offsets.
func (p *partitionModel) between(from, to int64) bool {
	for _, r := range p.log {
		if r.Offset >= from && r.Offset < to {
			return true
		}
	}
	return false
}

// commit notes how far a member has come. One of an old generation is fenced.
func (m *model) commit() {
	g, member := m.group(), m.member()
	want := g.codeOf(member)
	if want == exitOK && g.knows[member] != m.generation(g) {
		want = exitFenced
	}
	m.groupCommand(g, want, "commit", g.name, "--member", member)
}

// seek lets a member read again what the group was handed.
func (m *model) seek() {
	g, p := m.group(), m.partitions[rapid.IntRange(0, 1).Draw(m.T, "partition")]
	to := rapid.Int64Range(0, g.handed[p.String()]).Draw(m.T, "to")
	m.sh("", "group", "seek", g.name, "--member", m.member(), "-t", p.String(), "--to", fmt.Sprint(to))
}

// reset sets the committed offsets of a group: to anything, which then counts as handed. It is
// refused as long as the group has a member.
func (m *model) reset() {
	g := m.group()
	rows, code := m.sh("", "group", "reset-offsets", g.name, "-t", "t", "--to", pick(m.modelLab, "to", "start", "end"), "-y")
	if code == exitOK && len(g.knows) > 0 {
		m.fail("group %s was reset under its members", g.name)
	}
	for _, r := range rows {
		p := m.find(r.Topic, r.Partition)
		g.handed[p.String()] = max(g.handed[p.String()], r.NewOffset)
	}
}

func (m *model) heartbeat() {
	g, member := m.group(), m.member()
	m.groupCommand(g, g.codeOf(member), "heartbeat", g.name, "--member", member)
}

// expire takes out members that were silent for long.
func (m *model) expire() {
	g := m.group()
	if g.present == 0 {
		return // there is no such group yet
	}
	m.groupCommand(g, exitOK, "expire", g.name)
	left := map[string]bool{}
	for _, r := range m.read("group", "describe", g.name, "--members") {
		left[r.Member] = true
	}
	for member := range g.knows {
		g.lost[member] = g.lost[member] || !left[member]
	}
	maps.DeleteFunc(g.knows, func(member string, _ int) bool { return !left[member] })
}

// describe is the owner and committed offset of each partition, as text.
func (m *model) describe(g *groupModel) map[string]string {
	state := map[string]string{}
	if len(g.owners) == 0 && len(g.knows) == 0 {
		return state // there is no such group yet
	}
	for _, r := range m.read("group", "describe", g.name) {
		p, owner, offset := m.find(r.Topic, r.Partition), "-", int64(-1)
		if r.ConsumerID != nil {
			owner = *r.ConsumerID
		}
		if r.CurrentOffset != nil {
			offset = *r.CurrentOffset
		}
		state[p.String()] = owner + " " + strconv.FormatInt(offset, 10)
		handed := max(g.handed[p.String()], p.start)
		if p.between(handed, offset) {
			m.fail("group %s committed offset %d of %s, and was handed what is below %d", g.name, offset, p, handed)
		}
		g.handed[p.String()] = max(g.handed[p.String()], offset) // behind markers, which nobody is handed
	}
	return state
}

// checkGroup requires that each partition has one owner, a member, for the length of a
// generation, and that generations rise.
func (m *model) checkGroup(g *groupModel) {
	g.state = m.describe(g)
	if len(g.knows) == 0 {
		return
	}
	owners := map[string]string{}
	for _, r := range m.read("group", "describe", g.name, "--members") {
		if _, ok := g.knows[r.Member]; !ok || r.Generation < g.present {
			m.fail("group %s: member %s of generation %d", g.name, r.Member, r.Generation)
		}
		g.present = r.Generation
		for _, partition := range r.Assignment {
			if other, taken := owners[partition]; taken {
				m.fail("group %s: %s is %s's and %s's", g.name, partition, other, r.Member)
			}
			owners[partition] = r.Member
		}
	}
	if before, ok := g.owners[g.present]; ok && !maps.Equal(before, owners) {
		m.fail("group %s: generation %d had the owners %v, has %v", g.name, g.present, before, owners)
	}
	g.owners[g.present] = owners
	if len(owners) != 2 {
		m.fail("group %s: only %v have owners", g.name, owners)
	}
}
