// graph_layout.c: where the nodes of a drawing stand, by Graphviz.
//
// Purpose: a drawing in which no bond crosses another, or a name, that need not.
// Method: layers from left to right (E. R. Gansner et al., IEEE Trans. Softw. Eng. 19 (1993) 214). Where bonds cross each other or run over
// titles and labels, other drawings of the same graph are made - names of frames at another corner, ranks that do not mind frames, layers
// from top to bottom, one row where it is not too long - and of all the one is taken in which the least is crossed. Where one junction has very many bonds, layers are
// not found in any useful time; such graphs are drawn around it, by springs (Y. Hu, Mathematica Journal 10 (2005) 37).
// Contract: graph.h. Complexity: that of Graphviz, and quadratic in the bonds of graphs with less than COUNTED_MAX.
#include "ir/base/map.h"
#include "ir/view/graph_inner.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const double LONGER = 1.25; // so much longer may a drawing become that is not folded

enum {
    LAYOUT_SECONDS = 2,   // of processor time; then a layout by springs takes over
    COUNTED_MAX = 150,    // bonds of a drawing whose crossings are counted
    CURVE_POINTS = 6      // of a cubic curve
};

// --- what is crossed

typedef struct Point {
    double x, y;
} Point;

typedef struct Line { // a bond
    uint64_t tail, head; // hashes of the names of its ends
    uint32_t first, n;   // points
} Line;

typedef enum TextKind { TEXT_TITLE, TEXT_LABEL, TEXT_NODE } TextKind;

typedef struct Text {
    TextKind kind;
    uint64_t tail, head; // the ends of the bond it belongs to, or the node twice
    double left, top, right, bottom;
} Text;

typedef struct Picture {
    VEC(Line) lines;
    VEC(Text) texts;
    VEC(Point) points;
} Picture;

// The number behind `name="` in the tag that begins at `at`, or 0.
static double
attribute(const char *at, const char *end, const char *name)
{
    size_t length = strlen(name);
    for (; at + length + 2 < end && *at != '>'; at++)
        if (at[0] == ' ' && !strncmp(at + 1, name, length) && at[length + 1] == '=')
            return strtod(at + length + 3, NULL);
    return 0;
}

// Of text between `at` and `end` a reader sees so many letters: a sequence of bytes is one, spaces around a label (entities, or U+00A0) are none.
static uint32_t
count_letters(const char *at, const char *end)
{
    uint32_t count = 0;
    for (; at < end; at++) {
        bool space = !strncmp(at, "&#160;", 6) || !strncmp(at, "\xc2\xa0", 2);
        if (*at == '&')
            while (at < end && *at != ';')
                at++;
        count += !space && ((unsigned char)*at & 0xc0) != 0x80;
    }
    return count;
}

static void
add_texts(Picture *picture, TextKind kind, uint64_t tail, uint64_t head, const char *at, const char *end)
{
    while ((at = strstr(at, "<text ")) && at < end) {
        const char *content = strchr(at, '>'), *close = content ? strstr(content, "</text>") : NULL;
        if (!close)
            return;
        double x = attribute(at, content, "x"), y = attribute(at, content, "y"), size = attribute(at, content, "font-size");
        const char *anchor = strstr(at, "text-anchor=\"middle\"");
        double width = 0.55*size*count_letters(content + 1, close), left = anchor && anchor < content ? x - width/2 : x;
        Text text = {kind, tail, head, left, y - 0.75*size, left + width, y + 0.15*size};
        vec_push(&picture->texts, text);
        at = close;
    }
}

// "M1,2C3,4 5,6 7,8 ..." as a row of points on the curves.
static void
add_path(Picture *picture, uint64_t tail, uint64_t head, const char *path)
{
    Point knot[4];
    uint32_t n = 0;
    Line line = {tail, head, picture->points.n, 0};
    for (char *end; *path && *path != '"';) {
        if (*path == 'M' || *path == 'C' || *path == ',' || *path == ' ') {
            path++;
            continue;
        }
        knot[n].x = strtod(path, &end);
        if (end == path || *end != ',')
            break;
        knot[n].y = strtod(end + 1, &end);
        path = end;
        if (++n < 4)
            continue;
        for (uint32_t k = 0; k <= CURVE_POINTS; k++) {
            double t = (double)k/CURVE_POINTS, u = 1 - t;
            Point point = {u*u*u*knot[0].x + 3*u*u*t*knot[1].x + 3*u*t*t*knot[2].x + t*t*t*knot[3].x,
                           u*u*u*knot[0].y + 3*u*u*t*knot[1].y + 3*u*t*t*knot[2].y + t*t*t*knot[3].y};
            vec_push(&picture->points, point);
        }
        knot[0] = knot[3];
        n = 1;
    }
    line.n = picture->points.n - line.first;
    if (line.n)
        vec_push(&picture->lines, line);
}

static void
read_picture(const char *svg, Picture *picture)
{
    static const char *const classes[] = {[TEXT_TITLE] = "class=\"cluster\"", [TEXT_LABEL] = "class=\"edge\"", [TEXT_NODE] = "class=\"node\""};
    for (const char *at = svg; (at = strstr(at, "<g id="));) {
        const char *open = strchr(at, '>'), *title = strstr(at, "<title>"), *close = strstr(at, "</title>"), *next = strstr(at + 1, "<g id=");
        const char *end = next ? next : at + strlen(at);
        if (!open || !title || !close || close > end) {
            at = end;
            continue;
        }
        title += strlen("<title>");
        const char *arrow = strstr(title, "&#45;&gt;"), *path = strstr(close, " d=\"");
        bool edge = arrow && arrow < close;
        uint64_t tail = hash_bytes(title, (size_t)((edge ? arrow : close) - title)), head = tail;
        if (edge) {
            arrow += strlen("&#45;&gt;");
            head = hash_bytes(arrow, (size_t)(close - arrow));
            if (path && path < end)
                add_path(picture, tail, head, path + strlen(" d=\""));
        }
        for (int kind = 0; kind < 3; kind++) {
            const char *is = strstr(at, classes[kind]);
            if (is && is < open)
                add_texts(picture, (TextKind)kind, tail, head, close, end);
        }
        at = end;
    }
}

static double
side(Point a, Point b, Point c)
{
    return (b.x - a.x)*(c.y - a.y) - (b.y - a.y)*(c.x - a.x);
}

static bool
cross(Point a, Point b, Point c, Point d)
{
    if (fmax(a.x, b.x) < fmin(c.x, d.x) || fmax(c.x, d.x) < fmin(a.x, b.x) || fmax(a.y, b.y) < fmin(c.y, d.y) || fmax(c.y, d.y) < fmin(a.y, b.y))
        return false;
    return side(a, b, c)*side(a, b, d) < 0 && side(c, d, a)*side(c, d, b) < 0;
}

static bool
lines_cross(const Picture *picture, const Line *a, const Line *b)
{
    const Point *p = picture->points.at + a->first, *q = picture->points.at + b->first;
    for (uint32_t i = 0; i + 1 < a->n; i++)
        for (uint32_t k = 0; k + 1 < b->n; k++)
            if (cross(p[i], p[i + 1], q[k], q[k + 1]))
                return true;
    return false;
}

static bool
runs_over(const Picture *picture, const Line *line, const Text *text)
{
    const Point *p = picture->points.at + line->first;
    Point corner[4] = {{text->left, text->top}, {text->right, text->bottom}, {text->left, text->bottom}, {text->right, text->top}};
    for (uint32_t i = 0; i < line->n; i++) {
        if (text->left < p[i].x && p[i].x < text->right && text->top < p[i].y && p[i].y < text->bottom)
            return true;
        if (i + 1 < line->n && (cross(p[i], p[i + 1], corner[0], corner[1]) || cross(p[i], p[i + 1], corner[2], corner[3])))
            return true;
    }
    return false;
}

// Crossings, and twice the texts that a bond runs over; several bonds between two ends lie beside each other. 0 also where there are too many.
static uint32_t
count_crossed(const char *svg)
{
    Picture picture = {0};
    uint32_t crossed = 0;
    read_picture(svg, &picture);
    uint32_t n = picture.lines.n <= COUNTED_MAX ? picture.lines.n : 0;
    for (uint32_t i = 0; i < n; i++) {
        const Line *line = &picture.lines.at[i];
        for (uint32_t k = 0; k < i; k++) {
            const Line *other = &picture.lines.at[k];
            bool beside = (line->tail == other->tail && line->head == other->head) || (line->tail == other->head && line->head == other->tail);
            crossed += !beside && lines_cross(&picture, line, other);
        }
        for (uint32_t k = 0; k < picture.texts.n; k++) {
            const Text *text = &picture.texts.at[k];
            bool own = text->kind == TEXT_LABEL ? text->tail == line->tail && text->head == line->head
                                                : text->kind == TEXT_NODE && (text->tail == line->tail || text->tail == line->head);
            crossed += !own && runs_over(&picture, line, text) ? 2 : 0;
        }
    }
    vec_free(&picture.lines);
    vec_free(&picture.texts);
    vec_free(&picture.points);
    return crossed;
}

// --- Graphviz

// What came of a program: 0, an errno, or one of these.
enum { REFUSED = -1, TOO_LONG = -2 };

static int
wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return errno;
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
        return TOO_LONG;
    return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : REFUSED;
}

// Runs dot with `source` as input and `result` as output. The limit is one of processor time: a busy computer draws the same.
static int
run_dot(char *const *arguments, FILE *source, FILE *result)
{
    const struct rlimit limit = {LAYOUT_SECONDS, LAYOUT_SECONDS};
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    posix_spawn_file_actions_adddup2(&actions, fileno(source), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(result), STDOUT_FILENO);
    pid_t child;
    if (fseek(source, 0, SEEK_SET) || ftruncate(fileno(result), 0) || lseek(fileno(result), 0, SEEK_SET) < 0)
        error = errno;
    if (!error)
        error = posix_spawnp(&child, "dot", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        return error;
    prlimit(child, RLIMIT_CPU, &limit, NULL);
    return wait_for(child);
}

static int
run_layout(FILE *source, FILE *result)
{
    char *const layers[] = {"dot", "-Tsvg", NULL};
    char *const springs[] = {"dot", "-Ksfdp", "-Goverlap=prism", "-Gsplines=line", "-Tsvg", NULL};
    int error = run_dot(layers, source, result);
    if (error != TOO_LONG)
        return error;
    return run_dot(springs, source, result) ? TOO_LONG : 0;
}

static void
read_all(FILE *file, Out *out)
{
    char buffer[4096];
    size_t n;
    rewind(file);
    while ((n = fread(buffer, 1, sizeof buffer, file)) > 0)
        out_bytes(out, buffer, n);
}

// The picture of a graph that is given as text: 0, or why there is none.
static int
draw(const Out *dot, Out *svg)
{
    // Files instead of pipes: neither side can block the other, whatever the size.
    FILE *source = tmpfile(), *result = tmpfile();
    int error = source && result ? 0 : errno;
    if (!error && (fwrite(dot->text, 1, dot->length, source) != dot->length || fflush(source)))
        error = errno ? errno : EIO;
    if (!error)
        error = run_layout(source, result);
    if (!error)
        read_all(result, svg);
    if (source)
        fclose(source);
    if (result)
        fclose(result);
    return error;
}

// `text` with every `old` replaced.
static void
replace_all(const char *text, const char *old, const char *new, Out *out)
{
    for (const char *found; (found = strstr(text, old)); text = found + strlen(old)) {
        out_bytes(out, text, (size_t)(found - text));
        out_text(out, new);
    }
    out_text(out, text);
}

// From top to bottom what stands beside a bond begins at its line: with a space before each of its rows it does not touch it.
static void
move_aside(const char *dot, bool down, Out *out)
{
    static const char *const rows[][2] = {{GRAPH_BESIDE, GRAPH_BESIDE "&#160;"}, {"<br/>v ", "<br/>&#160;&#160;v "}, {"<br/>\xCF\x89", "<br/>&#160;&#160;\xCF\x89"}};
    Out now = {0};
    out_text(out, dot);
    for (size_t i = 0; down && i < sizeof rows / sizeof *rows; i++) {
        now.length = 0;
        replace_all(out->text, rows[i][0], rows[i][1], &now);
        Out kept = *out;
        *out = now;
        now = kept;
    }
    out_free(&now);
}

// The longer side of a picture.
static double
longer_side(const char *svg)
{
    const char *at = strstr(svg, "<svg "), *end = at ? strchr(at, '>') : NULL;
    return end ? fmax(attribute(at + strlen("<svg"), end, "width"), attribute(at + strlen("<svg"), end, "height")) : 0;
}

// Other drawings of the same graph, as long as something is crossed in the best.
static void
draw_better(const char *dot, Out *best)
{
    static const struct { const char *layers, *title; bool unfolded, down; } ways[] = {
        {"rankdir=LR", "labelloc=b; labeljust=r", false, false},
        {"rankdir=LR; newrank=true", "labelloc=b; labeljust=r", false, false},
        {"rankdir=LR; mclimit=20", GRAPH_TITLE, false, false},
        {"rankdir=TB; newrank=true", "labelloc=b; labeljust=r", false, true},
        {"rankdir=TB", GRAPH_TITLE, false, true},
        {GRAPH_LAYERS, GRAPH_TITLE, true, false},
    };
    uint32_t least = count_crossed(best->text);
    for (size_t i = 0; i < sizeof ways / sizeof *ways && least; i++) {
        Out aside = {0}, layers = {0}, titles = {0}, whole = {0}, svg = {0};
        move_aside(dot, ways[i].down, &aside);
        replace_all(aside.text, GRAPH_LAYERS, ways[i].layers, &layers);
        replace_all(layers.text, GRAPH_TITLE, ways[i].title, &titles);
        replace_all(titles.text, GRAPH_FOLD, ways[i].unfolded ? "" : GRAPH_FOLD, &whole);
        uint32_t crossed = draw(&whole, &svg) ? least : count_crossed(svg.text);
        bool fits = !ways[i].unfolded || longer_side(svg.text) <= LONGER*longer_side(best->text);
        if (crossed < least && fits) {
            least = crossed;
            Out kept = *best;
            *best = svg;
            svg = kept;
        }
        out_free(&aside);
        out_free(&layers);
        out_free(&titles);
        out_free(&whole);
        out_free(&svg);
    }
}

bool
graph_render_svg(const Dae *dae, const Problem *problem, uint32_t form, Out *out, Out *why)
{
    Out dot = {0}, svg = {0};
    graph_print_dot(dae, problem, form, &dot);
    int error = draw(&dot, &svg);
    if (!error) {
        draw_better(dot.text, &svg);
        out_bytes(out, svg.text, svg.length);
    } else if (error == ENOENT)
        out_text(why, "drawing needs Graphviz: the program 'dot' was not found; "
                      "--format=dot needs no other program");
    else
        out_printf(why, "Graphviz could not draw the graph: %s", error == REFUSED ? "'dot' reported an error"
                   : error == TOO_LONG ? "it is too large" : strerror(error));
    out_free(&dot);
    out_free(&svg);
    return !error;
}
